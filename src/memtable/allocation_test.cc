// The memtable's allocations, and its behaviour when memory is short.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/sanitizer.h"
#include "memtable/memtable.h"
#include "support/allocation_count.h"
#include "support/allocator_bytes.h"

namespace tamis {
namespace {

const KeyHasher kHasher(7);

void fill(Memtable& memtable, int entries) {
  for (int i = 0; i < entries; ++i) {
    const std::string key = std::to_string(remix(static_cast<std::uint64_t>(i)));
    const Sequence sequence{memtable.entries() + 1};
    memtable.insert({key, "a value", sequence, EntryKind::kPut}, kHasher(key));
  }
}

TEST(Allocations, NoneToFindNorToInsertWhatWasReserved) {
  Memtable memtable;
  ASSERT_TRUE(memtable.reserve(1000, 4000).ok());
  Sequence sequence{1};
  const auto work = [&] {
    for (int i = 0; i < 100; ++i) {
      memtable.insert({"key", "v", sequence, EntryKind::kPut}, kHasher("key"));
      sequence = sequence + 1;
      memtable.prefetch(kHasher("key"));
      ASSERT_TRUE(memtable.find({"key", kHasher("key"), kMaxSequence}));
      ASSERT_FALSE(memtable.find({"other", kHasher("other"), kMaxSequence}));
    }
  };
  EXPECT_EQ(test::allocations_when_repeated(work), 0U);
}

/// Except for the allocator's rounding up to pages.
TEST(Allocations, AreCountedToTheByte) {
  if (kWatchesMemory) GTEST_SKIP() << "a sanitizer has its own allocator";
  Memtable first;  // Allocates what the process and this thread need once.
  fill(first, 1);
  const std::size_t before = test::allocator_bytes_in_use();
  Memtable memtable;
  for (int round = 0; round < 6; ++round) {
    fill(memtable, 5000);
    (void)memtable.iterate();
    const std::size_t taken = test::allocator_bytes_in_use() - before;
    EXPECT_LE(memtable.memory_bytes(), taken);
    EXPECT_GE(memtable.memory_bytes() + memtable.memory_bytes() / 50 + 4096, taken);
  }
}

/// In a separate process, since the limit is permanent.
void run_out_of_memory() {
  Memtable memtable;
  fill(memtable, 200'000);
  // Small pieces are still available: each of these gaps lies between two pieces in use.
  std::vector<std::unique_ptr<char[]>> pieces;
  for (int i = 0; i < 200; ++i) pieces.push_back(std::make_unique<char[]>(600));
  for (std::size_t i = 0; i < pieces.size(); i += 2) pieces[i].reset();
  rlimit none = {.rlim_cur = 1, .rlim_max = 1};
  if (::setrlimit(RLIMIT_AS, &none) != 0) std::exit(1);
  if (memtable.reserve(1'000'000, 100).code() != StatusCode::kOutOfSpace) std::exit(2);
  if (memtable.reserve(1, 100'000'000).code() != StatusCode::kOutOfSpace) std::exit(3);
  const auto iterator = memtable.iterate();
  if (iterator->status().code() != StatusCode::kOutOfSpace) std::exit(4);
  iterator->seek_to_first();
  if (iterator->valid() || iterator->status().code() != StatusCode::kOutOfSpace) std::exit(5);
  const std::string key = std::to_string(remix(0));
  if (!memtable.find({key, kHasher(key), kMaxSequence})) std::exit(6);
  std::exit(0);
}

TEST(AllocationsDeathTest, ThatFailAreToldByAStatusAndHurtNothing) {
  if (kWatchesMemory) GTEST_SKIP() << "a sanitizer needs address space";
  EXPECT_EXIT(run_out_of_memory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tamis
