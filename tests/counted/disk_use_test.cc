// What a store takes on disk while it is overwritten, compactions included.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr const char* kPath = "/store";
constexpr std::uint64_t kMemtable = 32 << 20;
constexpr std::uint64_t kValues = 2000;
constexpr std::size_t kValueBytes = 128 << 10;
constexpr std::uint64_t kLive = kValues * kValueBytes;  // About eight memtables.

/// Adds up the sizes of all files after each rewrite, while its inputs are still there.
class FileBytes final : public EventListener {
 public:
  explicit FileBytes(FileSystem& files) : files_(files) {}

  void on_event(const StoreEvent& event) override {
    if (event.kind == StoreEvent::Kind::kCompacted) largest_rewrite = std::max(largest_rewrite, event.bytes);
    std::uint64_t bytes = 0;
    const Result<std::vector<DirectoryEntry>> entries = files_.list(kPath);
    ASSERT_TRUE(entries.ok());
    for (const DirectoryEntry& entry : *entries) {
      const std::string path = std::string(kPath) + "/" + entry.name;
      if (const Result<std::optional<std::uint64_t>> size = files_.file_size(path); size.ok())
        bytes += size->value_or(0);
    }
    most = std::max(most, bytes);
  }
  void forget() { most = largest_rewrite = 0; }

  std::uint64_t most = 0;
  std::uint64_t largest_rewrite = 0;

 private:
  FileSystem& files_;
};

void put(DB& db, std::uint64_t number, SplitMix64& random) {
  std::string value(kValueBytes, static_cast<char>(random.next()));
  ASSERT_TRUE(db.put("key" + std::to_string(remix(number)), value).ok());
}

TEST(DiskUse, OverwritingTakesAtMostTwiceTheLiveData) {
  MemoryFileSystem files;
  FileBytes bytes(files);
  Options options;
  options.memory_bytes = std::uint64_t{1} << 30;
  options.memtable_bytes = kMemtable;
  Result<DB> db =
      DB::open(kPath, options, {.files = &files, .listener = &bytes, .random_seed = 7, .runs_in_background = false});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  SplitMix64 random(1);
  for (std::uint64_t i = 0; i < kValues; ++i) put(*db, i, random);
  for (std::uint64_t i = 0; i < kValues; ++i) put(*db, random.below(kValues), random);
  bytes.forget();
  for (std::uint64_t i = 0; i < kValues; ++i) put(*db, random.below(kValues), random);
  EXPECT_LT(bytes.most, 2 * kLive);
  EXPECT_LT(bytes.largest_rewrite, kLive / 3);
}

}  // namespace
}  // namespace tamis::test
