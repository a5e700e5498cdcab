#include "base/slot_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.h"

namespace tamis {
namespace {

struct Piece {
  std::byte* at;
  std::size_t size;
  std::uint8_t filling;

  static Piece take(std::size_t size, std::uint8_t filling) {
    Piece piece{SlotMemory::take(size), size, filling};
    EXPECT_NE(piece.at, nullptr);
    std::memset(piece.at, filling, size);
    return piece;
  }
  [[nodiscard]] bool is_whole() const {
    return std::all_of(at, at + size, [&](std::byte byte) { return byte == std::byte{filling}; });
  }
};

std::vector<std::byte*> take_many(std::size_t count, std::size_t size) {
  std::vector<std::byte*> slots;
  for (std::size_t i = 0; i < count; ++i) slots.push_back(SlotMemory::take(size));
  return slots;
}

/// Returns the chunks' bytes in between.
std::size_t take_and_give(std::size_t count, std::size_t size) {
  const std::vector<std::byte*> slots = take_many(count, size);
  const std::size_t bytes = SlotMemory::chunk_bytes();
  for (std::byte* slot : slots) SlotMemory::give_back(slot, size);
  return bytes;
}

constexpr std::size_t kSize = 4300;
constexpr std::size_t kCount = 10'000;  // 42 MB.
constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t some_size(SplitMix64& random) {
  return SlotMemory::kMinBytes + random.below(SlotMemory::kMaxBytes - SlotMemory::kMinBytes + 1);
}

TEST(SlotMemory, SlotsDoNotOverlapWhateverIsTakenAndGivenBack) {
  SplitMix64 random(7);
  std::vector<Piece> pieces;
  for (int i = 0; i < 20'000; ++i) {
    if (pieces.size() < 1000 || random.below(2) == 0) {
      pieces.push_back(Piece::take(some_size(random), static_cast<std::uint8_t>(random.next())));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(pieces.back().at) % SlotMemory::kStepBytes, 0U);
    } else {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      ASSERT_TRUE(pieces.back().is_whole());
      SlotMemory::give_back(pieces.back().at, pieces.back().size);
      pieces.pop_back();
    }
  }
  for (const Piece& piece : pieces) {
    ASSERT_TRUE(piece.is_whole());
    SlotMemory::give_back(piece.at, piece.size);
  }
}

TEST(SlotMemory, ThatWasGivenBackIsTakenAgainAndInTheEndGoesToTheKernel) {
  const std::size_t before = SlotMemory::chunk_bytes();
  const std::vector<std::byte*> slots = take_many(kCount, kSize);
  const std::size_t full = SlotMemory::chunk_bytes();
  EXPECT_LT(full - before, kCount * kSize * 103 / 100 + 4 * kMiB);
  for (std::size_t i = 0; i < kCount; i += 2) SlotMemory::give_back(slots[i], kSize);
  const std::vector<std::byte*> again = take_many(kCount / 2, kSize);
  EXPECT_EQ(SlotMemory::chunk_bytes(), full);
  for (std::byte* slot : again) SlotMemory::give_back(slot, kSize);
  for (std::size_t i = 1; i < kCount; i += 2) SlotMemory::give_back(slots[i], kSize);
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 4 * kMiB);
}

/// Up to the caches' allowance, memory is kept for new blocks, and freed when the allowance shrinks.
TEST(SlotMemory, StaysWithinTheAllowanceWhenItIsFree) {
  const std::size_t before = SlotMemory::chunk_bytes();
  SlotMemory::change_allowance(0, before + 20 * kMiB);
  take_and_give(kCount, kSize);
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 20 * kMiB);
  EXPECT_GT(SlotMemory::chunk_bytes(), before + 17 * kMiB);
  EXPECT_GE(SlotMemory::free_bytes(), 17 * kMiB);
  SlotMemory::change_allowance(before + 20 * kMiB, before + 200 * kMiB);
  const std::size_t full = take_and_give(kCount, kSize);
  EXPECT_EQ(SlotMemory::chunk_bytes(), full);
  EXPECT_EQ(take_and_give(kCount, kSize), full);
  SlotMemory::change_allowance(before + 200 * kMiB, before + 10 * kMiB);
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 10 * kMiB);
  EXPECT_GT(SlotMemory::chunk_bytes(), before + 7 * kMiB);
  SlotMemory::change_allowance(before + 10 * kMiB, 0);
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 4 * kMiB);
  EXPECT_LE(SlotMemory::free_bytes(), 4 * kMiB);
}

/// A thread keeps a few slots, and the others can use the rest.
TEST(SlotMemory, LittleStaysWithTheThreadThatGaveItBack) {
  SlotMemory::change_allowance(0, 200 * kMiB);
  for (std::byte* slot : take_many(kCount, kSize)) SlotMemory::give_back(slot, kSize);
  EXPECT_GE(SlotMemory::free_bytes(), 34 * kMiB);
  SlotMemory::change_allowance(200 * kMiB, 0);
}

/// Its memory may serve slots of another size afterwards.
TEST(SlotMemory, AFreeSpanServesAnySize) {
  const std::size_t first = take_and_give(2000, 4096);
  for (std::size_t size = 1024; size <= 4096; size += 64) ASSERT_LE(take_and_give(2000, size), first + 4 * kMiB);
}

TEST(SlotMemory, ManyThreadsTakeAndGiveBackAtOnce) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      SplitMix64 random(t);
      std::vector<Piece> pieces;
      for (int i = 0; i < 5000; ++i) {
        pieces.push_back(Piece::take(some_size(random), static_cast<std::uint8_t>(t)));
        if (pieces.size() < 50) continue;
        std::swap(pieces[random.below(pieces.size())], pieces.back());
        EXPECT_TRUE(pieces.back().is_whole());
        SlotMemory::give_back(pieces.back().at, pieces.back().size);
        pieces.pop_back();
      }
      for (const Piece& piece : pieces) SlotMemory::give_back(piece.at, piece.size);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tamis
