// Every option at both ends of its range: answers are right, and costs are reasonable. The ranges come from the table
// of options, so a new option is tested as soon as it has a row.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

using Model = std::map<std::string, std::string>;

constexpr int kWrites = 1200;
constexpr std::uint64_t kKeys = 400;
constexpr std::size_t kValueBytes = 150;

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return parts;
}

/// The ends of a range, or every word of a list. Empty if the range is unknown to this test.
std::vector<std::string> ends_of(const OptionInfo& option, const Options& options) {
  if (option.name == "prefix_rule") return {"none", "first:1", "first:65535", "until::", "until:0xff"};
  if (option.name == "merge_operator") return {"none", "add_i64", "own"};
  if (option.name == "default_expiry") return {"never", "1h", "365000d"};
  if (option.range == "auto, or 0 to memory_bytes") return {"auto", "0", get_option(options, "memory_bytes")};
  if (option.range.find(" to ") != std::string::npos) return split(option.range, " to ");
  return option.range.find('(') == std::string::npos ? split(option.range, ", ") : std::vector<std::string>();
}

void expect_same(const DB& db, const Model& model) {
  Model found;
  Iterator at = db.scan();
  for (; at.valid(); at.next()) found.emplace(at.key(), at.value());
  EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  EXPECT_TRUE(found == model);
  for (std::uint64_t i = 0; i < kKeys; i += 7) {
    const std::string key = fmt::format("key:{:05}", i);
    const auto value = db.get(key);
    ASSERT_TRUE(value.ok()) << value.status().to_text();
    EXPECT_EQ(value->value_or("absent"), model.contains(key) ? model.at(key) : "absent") << key;
  }
}

/// The maximum costs of writes, whatever the options.
void expect_reasonable(const Stats& stats, const Options& options) {
  const double user_bytes = static_cast<double>(stats.bytes_written_by_users);
  EXPECT_LT(static_cast<double>(stats.bytes_written), 40 * user_bytes);
  EXPECT_LT(stats.flushes, stats.writes / 20 + 2) << "the memtable holds nearly nothing";
  EXPECT_LE(stats.memory.used, options.memory_bytes) << stats.to_text();
}

void sweep(const Options& options) {
  MemoryFileSystem files;
  Model model;
  SplitMix64 random(11);
  for (int opening = 0; opening < 2; ++opening) {
    DB db = test::open_db(files, options);
    expect_same(db, model);
    for (int i = 0; i < kWrites / 2; ++i) {
      const std::string key = fmt::format("key:{:05}", random.below(kKeys));
      if (random.below(5) == 0) {
        ASSERT_TRUE(db.remove(key).ok());
        model.erase(key);
      } else {
        const std::string value = fmt::format("{:.<{}}", i, kValueBytes);
        const Status put = db.put(key, value);
        ASSERT_TRUE(put.ok()) << put.to_text();
        model[key] = value;
      }
    }
    expect_reasonable(db.stats(), options);
    expect_same(db, model);
    ASSERT_TRUE(db.close().ok());
  }
}

TEST(OptionSweep, EveryOptionAtBothEndsGivesRightAnswersAtReasonableCost) {
  for (const char* memory : {"256KiB", "64MiB"}) {
    for (const OptionInfo& option : option_table()) {
      Options options;
      ASSERT_TRUE(set_option(options, "memory_bytes", memory).ok());
      const std::vector<std::string> ends = ends_of(option, options);
      EXPECT_FALSE(ends.empty()) << "teach ends_of the range of " << option.name << ": " << option.range;
      for (const std::string& value : ends) {
        SCOPED_TRACE(fmt::format("memory_bytes={}, {}={}", memory, option.name, value));
        Options changed = options;
        ASSERT_TRUE(set_option(changed, option.name, value).ok());
        ASSERT_TRUE(check_options(changed).ok());
        sweep(changed);
        if (HasFatalFailure()) return;
      }
    }
  }
}

/// Around the size from which a put goes to a table at once.
TEST(OptionSweep, APutOfAQuarterOfTheMemoryAndMoreIsTaken) {
  for (const std::uint64_t memory : {std::uint64_t{256} << 10, std::uint64_t{8} << 20}) {
    MemoryFileSystem files;
    DB db = test::open_db(files, {.memory_bytes = memory});
    for (const std::uint64_t bytes : {memory / 4 - 64, memory / 4, 2 * memory}) {
      ASSERT_TRUE(db.put("key", std::string(bytes, 'x')).ok());
      EXPECT_EQ((**db.get("key")).size(), bytes);
    }
  }
}

}  // namespace
}  // namespace tamis
