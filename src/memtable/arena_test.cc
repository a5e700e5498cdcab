#include "memtable/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace tamis {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

struct Piece {
  Arena::Place place;
  std::size_t bytes;
  unsigned char filling;
};

Piece take(Arena& arena, std::size_t bytes, unsigned char filling) {
  const Piece piece{arena.allocate(bytes), bytes, filling};
  std::memset(arena.at(piece.place), filling, bytes);
  return piece;
}

bool is_untouched(const Arena& arena, const Piece& piece) {
  const auto* bytes = static_cast<const unsigned char*>(arena.at(piece.place));
  for (std::size_t i = 0; i < piece.bytes; ++i) {
    if (bytes[i] != piece.filling) return false;
  }
  return true;
}

/// Groups of pieces, each reserved before.
void fill_and_check(std::uint64_t seed, MemoryCount& memory) {
  Arena arena(memory);
  std::mt19937_64 random(seed);
  std::vector<Piece> pieces;
  for (int group = 0; group < 60; ++group) {
    std::vector<std::size_t> sizes(1 + random() % 20);
    std::size_t reserved = 0;
    for (std::size_t& size : sizes) {
      size = 1 + random() % (random() % 30 == 0 ? 300'000 : 200);
      reserved += (size + 7) / 8 * 8;
    }
    ASSERT_TRUE(arena.reserve(reserved));
    const std::size_t memory_before = memory;
    for (const std::size_t size : sizes) pieces.push_back(take(arena, size, static_cast<unsigned char>(random())));
    ASSERT_EQ(memory, memory_before) << "what was reserved is taken already";
  }
  for (const Piece& piece : pieces) {
    ASSERT_NE(piece.place, Arena::Place::kNone);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(arena.at(piece.place)) % Arena::kUnitBytes, 0U);
    ASSERT_TRUE(is_untouched(arena, piece));
  }
}

TEST(Arena, PiecesOfEverySizeKeepTheirBytesUntilAllIsGivenBack) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    MemoryCount memory;
    fill_and_check(seed, memory);
    EXPECT_EQ(memory, 0U);
  }
}

TEST(Arena, PiecesBehindTheFirstSpanOfALargeChunkAreFound) {
  MemoryCount memory;
  Arena arena(memory);
  ASSERT_TRUE(arena.reserve(200 * kMebibyte));
  (void)arena.allocate(63 * kMebibyte);
  const Piece across = take(arena, 2 * kMebibyte, 1);
  (void)arena.allocate(100 * kMebibyte);
  const Piece last = take(arena, 35 * kMebibyte, 2);
  ASSERT_TRUE(arena.reserve(kMebibyte));
  const Piece next = take(arena, kMebibyte, 3);
  EXPECT_TRUE(is_untouched(arena, across));
  EXPECT_TRUE(is_untouched(arena, last));
  EXPECT_TRUE(is_untouched(arena, next));
}

TEST(Arena, ALargePieceDoesNotCostTheRestOfAChunk) {
  MemoryCount memory;
  Arena arena(memory);
  ASSERT_TRUE(arena.reserve(8));
  (void)arena.allocate(8);
  const std::size_t small = memory;
  ASSERT_TRUE(arena.reserve(kMebibyte));
  (void)arena.allocate(kMebibyte);
  EXPECT_EQ(memory, small + kMebibyte);
  ASSERT_TRUE(arena.reserve(small / 2));
  EXPECT_EQ(memory, small + kMebibyte) << "the first chunk still has room";
}

TEST(Arena, TakesLittleMoreThanItHandsOut) {
  MemoryCount memory;
  Arena arena(memory);
  EXPECT_EQ(memory, 0U);
  std::size_t used = 0;
  for (int i = 0; i < 400'000; ++i) {
    ASSERT_TRUE(arena.reserve(136));
    (void)arena.allocate(136);
    used += 136;
    ASSERT_LE(memory, used + used / 8 + (8 << 10) + 136);
  }
}

TEST(Arena, ARefusedReservationChangesNothing) {
  MemoryCount memory;
  Arena arena(memory);
  ASSERT_TRUE(arena.reserve(1000));
  const std::size_t before = memory;
  EXPECT_FALSE(arena.reserve(~std::size_t{0}));
  EXPECT_FALSE(arena.reserve(std::size_t{1} << 40));
  EXPECT_FALSE(arena.reserve(std::size_t{32} << 30)) << "places are 32 bits, and one span is not used";
  EXPECT_EQ(memory, before);
  const Piece piece = take(arena, 1000, 1);
  EXPECT_EQ(memory, before);
  EXPECT_TRUE(is_untouched(arena, piece));
}

}  // namespace
}  // namespace tamis
