// Where LZ4 blocks of unknown start may end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tamis {

/// LZ4's block format has no start or end marker: a sequence is a token with two lengths, literals, and the offset of a
/// match; a block ends after the literals of its last sequence. But from any position the sequences lead to one next
/// position, and a block's trailer says how many bytes they produced. So one pass from right to left finds, for every
/// position at once, the nearest trailer that its sequences lead to and what they produce up to there.
///
/// Threads: one at a time.
class Lz4Ends {
 public:
  /// Copies the bytes of a file at `offset`. For blocks that begin in the first `begins` of them, all ends within the
  /// bytes are known.
  void cover(std::string_view bytes, std::uint64_t offset, std::size_t begins);
  [[nodiscard]] bool covers(std::uint64_t begin) const { return begin >= offset_ && begin < offset_ + begins_; }

  /// The trailers whose length equals what the sequences from `begin` produce up to there: usually none. At most as
  /// many as fit `to`; returns how many. Precondition: covers(begin).
  std::size_t find(std::uint64_t begin, std::span<std::uint64_t> to) const;

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  /// The sequence at one position.
  struct Sequence {
    std::uint64_t literals = 0;
    std::uint64_t literals_end = 0;  // In bytes_, like all positions here; kNowhere if it is not inside.
    std::uint64_t made = 0;          // Literals and match.
    std::uint64_t next = 0;
  };
  /// The nearest sequence from a position, itself included, whose literals a trailer may follow.
  struct Way {
    std::uint32_t last = kNowhere;
    std::uint32_t made = 0;  // Up to the trailer.
  };

  [[nodiscard]] Sequence sequence_at(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t length_at(std::uint64_t& place, unsigned nibble) const;
  [[nodiscard]] bool may_be_trailer(std::uint64_t place) const;
  [[nodiscard]] Way way_from(std::uint64_t place) const;

  std::vector<char> bytes_;
  std::uint64_t offset_ = 0;
  std::size_t begins_ = 0;
  std::vector<Way> ways_;
  std::vector<std::uint16_t> runs_;  // The number of 0xff bytes from each position on, at most 65,535.
};

}  // namespace tamis
