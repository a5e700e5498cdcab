#include "memtable/spare_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "memtable/counted_bytes.h"

namespace tamis {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

bool is_zero(const CountedBytes& bytes) {
  return std::all_of(bytes.data(), bytes.data() + bytes.size(), [](std::byte byte) { return byte == std::byte{}; });
}

TEST(SpareMemory, WhatWasGivenBackIsTakenAgain) {
  auto spare = std::make_shared<SpareMemory>(8 * kMebibyte);
  MemoryCount memory(0, spare);
  const std::byte* first = nullptr;
  {
    const CountedBytes piece = CountedBytes::unset(memory, kMebibyte);
    first = piece.data();
    EXPECT_EQ(memory, kMebibyte);
    EXPECT_EQ(spare->bytes(), 0U);
  }
  { const CountedBytes small = CountedBytes::unset(memory, SpareMemory::kMinPiece - 1); }
  EXPECT_EQ(memory, 0U);
  EXPECT_EQ(spare->bytes(), kMebibyte) << "small pieces are left to malloc";
  const CountedBytes again = CountedBytes::unset(memory, kMebibyte - 100);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(memory, kMebibyte) << "a piece that is larger than was asked for counts whole";
  EXPECT_EQ(spare->bytes(), 0U);
}

TEST(SpareMemory, KeepsWhatIsNotInUseOfWhatItMay) {
  auto spare = std::make_shared<SpareMemory>(4 * kMebibyte);
  MemoryCount memory(0, spare);
  CountedBytes used = CountedBytes::unset(memory, 2 * kMebibyte);
  {
    const CountedBytes one = CountedBytes::unset(memory, kMebibyte);
    const CountedBytes two = CountedBytes::unset(memory, kMebibyte);
    const CountedBytes three = CountedBytes::unset(memory, kMebibyte);
  }
  EXPECT_EQ(spare->bytes(), 2 * kMebibyte);
  const CountedBytes more = CountedBytes::unset(memory, 2 * kMebibyte);  // None of them fits.
  EXPECT_EQ(spare->bytes(), 0U) << "what is in use takes all there is";
  used = {};
  EXPECT_EQ(spare->bytes(), 2 * kMebibyte);
}

/// Otherwise the next memtable would find none of the pieces it needs.
TEST(SpareMemory, WhoAsksInVainCostsOthersNothingWhileThereIsRoom) {
  auto spare = std::make_shared<SpareMemory>(8 * kMebibyte);
  MemoryCount memory(0, spare);
  {
    const CountedBytes one = CountedBytes::unset(memory, kMebibyte);
    const CountedBytes two = CountedBytes::unset(memory, kMebibyte);
  }
  const CountedBytes larger = CountedBytes::unset(memory, 2 * kMebibyte);
  const CountedBytes smaller = CountedBytes::unset(memory, kMebibyte / 2);
  EXPECT_EQ(spare->bytes(), 2 * kMebibyte);
}

/// Each as large as the previous one, two at a time, beside what a flush sorts.
TEST(SpareMemory, MemtablesThatFollowEachOtherTakeNothingFromTheKernel) {
  auto spare = std::make_shared<SpareMemory>(32 * kMebibyte);
  MemoryCount memory(0, spare);
  std::vector<CountedBytes> sealed;
  std::size_t mapped_before = 0;
  for (int i = 0; i < 6; ++i) {
    std::vector<CountedBytes> active;
    for (std::size_t size = kMebibyte / 2; size <= 4 * kMebibyte; size *= 2) {
      active.push_back(CountedBytes::unset(memory, size));
      if (size == 2 * kMebibyte) {
        const CountedBytes sorted = CountedBytes::unset(memory, 3 * kMebibyte / 2 + 1000 * i);
        sealed.clear();  // Flushed.
      }
    }
    if (i == 3) mapped_before = AlignedBytes::mapped_bytes();
    EXPECT_TRUE(i < 3 || AlignedBytes::mapped_bytes() == mapped_before) << i;
    sealed = std::move(active);
  }
}

TEST(SpareMemory, ZeroedPiecesAreZero) {
  auto spare = std::make_shared<SpareMemory>(8 * kMebibyte);
  MemoryCount memory(0, spare);
  {
    CountedBytes dirty = CountedBytes::unset(memory, kMebibyte);
    std::memset(dirty.data(), 1, dirty.size());
  }
  EXPECT_TRUE(is_zero(CountedBytes::zeroed(memory, kMebibyte))) << "what lies there is not zero";
  {
    CountedBytes cleared = CountedBytes::zeroed(memory, kMebibyte);
    std::memset(cleared.data(), 1, cleared.size());
    cleared.clear_for_reuse();
  }
  EXPECT_GT(spare->bytes(), 0U);
  EXPECT_TRUE(is_zero(CountedBytes::zeroed(memory, kMebibyte)));
}

}  // namespace
}  // namespace tamis
