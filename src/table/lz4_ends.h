// Where blocks compressed by LZ4 may end, for beginnings that nobody knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tamis {

/// LZ4's block format has no mark at its beginning or end: a sequence is a token with two lengths, literals, and the
/// offset of a match; after the literals of the last sequence it is over. But from any place the sequences lead to one
/// next place, and behind a block there stands how many bytes they made. So one walk from the right to the left finds,
/// for every place at once, the nearest trailer that its sequences lead to and what they make until there.
///
/// Threads: one at a time.
class Lz4Ends {
 public:
  /// The bytes of a file at `offset`, copied. Of blocks that begin in the first `begins` of them, all that end within
  /// the bytes are known.
  void cover(std::string_view bytes, std::uint64_t offset, std::size_t begins);
  [[nodiscard]] bool covers(std::uint64_t begin) const { return begin >= offset_ && begin < offset_ + begins_; }

  /// Where trailers stand whose length is what the sequences from `begin` make until there: usually none. At most as
  /// many as `to` has room for; returns how many. Precondition: covers(begin).
  std::size_t find(std::uint64_t begin, std::span<std::uint64_t> to) const;

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  /// What begins at one place.
  struct Sequence {
    std::uint64_t literals = 0;
    std::uint64_t literals_end = 0;  // In bytes_, as all places here; kNowhere when it is not inside.
    std::uint64_t made = 0;          // Literals and match.
    std::uint64_t next = 0;
  };
  /// The nearest sequence on the way from a place, itself included, behind whose literals a trailer may stand.
  struct Way {
    std::uint32_t last = kNowhere;
    std::uint32_t made = 0;  // Until the trailer.
  };

  [[nodiscard]] Sequence sequence_at(std::uint64_t place) const;
  [[nodiscard]] std::uint64_t length_at(std::uint64_t& place, unsigned nibble) const;
  [[nodiscard]] bool may_be_trailer(std::uint64_t place) const;
  [[nodiscard]] Way way_from(std::uint64_t place) const;

  std::vector<char> bytes_;
  std::uint64_t offset_ = 0;
  std::size_t begins_ = 0;
  std::vector<Way> ways_;
  std::vector<std::uint16_t> runs_;  // How many bytes of 0xff there are from each place on, at most 65,535.
};

}  // namespace tamis
