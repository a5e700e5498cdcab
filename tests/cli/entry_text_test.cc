// Records that are too long are refused before they are in memory. The limits of the command are gigabytes, so this
// test sets its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "cli/error.h"
#include "cli/lines.h"
#include "cli/store/entry_text.h"
#include "tamis/batch.h"

namespace tamis::cli {
namespace {

/// The message about the first entry of a file with these bytes.
std::string refusal_of(const std::string& bytes, EntryFormat format, std::uint64_t longest_record) {
  const std::string path = testing::TempDir() + "entry-text-" + std::to_string(::getpid());
  std::ofstream(path) << bytes;
  const CommonOptions options;
  Lines lines(path, "loading", options);
  std::string message;
  try {
    (void)entries_in(lines, {.format = format, .longest_record = longest_record})->next();
  } catch (const CommandError& error) {
    message = error.what();
  }
  ::unlink(path.c_str());
  return message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(LongRecords, AMissingLineEndIsNoticedBeforeTheFileIsInMemory) {
  const std::string endless(3'000'000, 'x');
  for (const EntryFormat format : {EntryFormat::kTsv, EntryFormat::kCsv, EntryFormat::kJsonLines}) {
    const std::string message = refusal_of(endless, format, 1 << 20);
    EXPECT_TRUE(has(message, "line 1 is longer than 1.00 MiB")) << message;
    EXPECT_TRUE(has(message, "check for a missing line end")) << message;
  }
}

TEST(LongRecords, AMissingQuoteIsNoticedBeforeTheFileIsInMemory) {
  std::string endless = "a,\"";
  while (endless.size() < 3'000'000) endless += "y\n";
  const std::string message = refusal_of(endless, EntryFormat::kCsv, 1 << 20);
  EXPECT_TRUE(has(message, "line 1: a quote is opened and not closed within 1.00 MiB")) << message;
}

TEST(LongRecords, TheLongestKeyAndValueFitInEveryFormat) {
  constexpr std::uint64_t kBoth = Batch::kMaxKeyBytes + Batch::kMaxValueBytes;
  EXPECT_GT(longest_record_of(EntryFormat::kTsv, false), kBoth);
  EXPECT_GT(longest_record_of(EntryFormat::kTsv, true), 2 * kBoth);
  EXPECT_GT(longest_record_of(EntryFormat::kCsv, false), 2 * kBoth + 4) << "nothing but quotes";
  EXPECT_GT(longest_record_of(EntryFormat::kCsv, true), 2 * kBoth);
  const std::string_view rest = R"({"key": "", "value": "", "found": true, "keyspace": ""})";
  EXPECT_GT(longest_record_of(EntryFormat::kJsonLines, false), 6 * kBoth + rest.size() + 6 * 255) << "\\u0000 each";
}

}  // namespace
}  // namespace tamis::cli
