// Gets allocate nothing, nor do puts of what was reserved. Left out under ThreadSanitizer, whose operator new cannot be
// replaced.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAMIS_THREAD_SANITIZER
#endif
#endif

#ifndef TAMIS_THREAD_SANITIZER
#include <gtest/gtest.h>

#include "base/hash.h"
#include "memtable/memtable.h"
#include "support/allocation_count.h"

namespace tamis {
namespace {

TEST(Allocations, NoneToFindNorToInsertWhatWasReserved) {
  const KeyHasher hasher(7);
  Memtable memtable;
  ASSERT_TRUE(memtable.reserve(1000, 4000).ok());
  Sequence sequence{1};
  const auto work = [&] {
    for (int i = 0; i < 100; ++i) {
      memtable.insert({"key", "v", sequence, EntryKind::kPut}, hasher("key"));
      sequence = sequence + 1;
      memtable.prefetch(hasher("key"));
      ASSERT_TRUE(memtable.find({"key", hasher("key"), kMaxSequence}));
      ASSERT_FALSE(memtable.find({"other", hasher("other"), kMaxSequence}));
    }
  };
  EXPECT_EQ(test::allocations_when_repeated(work), 0U);
}

}  // namespace
}  // namespace tamis
#endif
