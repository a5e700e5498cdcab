// Walking allocates nothing: counted, by replacing the global operator new of this program.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "entry/batch_format.h"
#include "entry/merging_iterator.h"
#include "entry/visible_iterator.h"
#include "support/entry_sets.h"

namespace {
std::atomic<std::uint64_t> allocations = 0;
}

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tamis {
namespace {

/// How many allocations a second walk makes, when all buffers have grown in a first one.
template <typename Walk>
std::uint64_t allocations_of(Walk walk) {
  walk();
  const std::uint64_t before = allocations.load();
  walk();
  return allocations.load() - before;
}

TEST(Allocations, NoneWhileIteratorsWalkAndTurn) {
  const test::EntrySets sets(1, {.runs = 9, .entries = 200, .keys = 60, .sequences = 90});
  VisibleIterator iterator(make_merging_iterator(sets.iterators()), Sequence{70}, {});
  EXPECT_EQ(allocations_of([&] {
              for (iterator.seek_to_first(); iterator.valid(); iterator.next()) continue;
              for (iterator.seek_to_last(); iterator.valid(); iterator.previous()) continue;
              iterator.seek_to_first();
              for (int i = 0; i < 10; ++i) {
                iterator.next();
                iterator.previous();
              }
            }),
            0U);
}

TEST(Allocations, NoneWhileABatchIsReadOrFilledAgain) {
  Batch batch;
  const auto fill = [&] {
    batch.clear();
    for (int i = 0; i < 100; ++i) batch.put("key", "value");
  };
  EXPECT_EQ(allocations_of(fill), 0U);
  const Batch* const group[] = {&batch};
  std::string bytes;
  const auto encode_and_decode = [&] {
    bytes.clear();
    append_encoded(bytes, group);
    std::uint64_t seen = 0;
    for (const Entry& entry : *BatchView::decode(as_bytes(bytes), Sequence{1}, "t")) seen += entry.key.size();
    ASSERT_EQ(seen, 300U);
  };
  EXPECT_EQ(allocations_of(encode_and_decode), 0U);
}

}  // namespace
}  // namespace tamis
