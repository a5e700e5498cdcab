// The Bloom filter core shared by every foreign layout: k positions per key, each a bit that must be set.
//
// A layout supplies two things: a sequence of positions (which hash, which arithmetic) and the order of the bits in the
// bytes. Adding, probing and counting are implemented here, once. Headers are handled outside.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/check.h"

namespace tamis::foreign {

/// The parameters of one filter. `bits` is the modulus of its positions; the bytes may hold a few more bits as padding.
struct BloomShape {
  std::uint64_t bits = 0;                 // At least 1.
  std::uint32_t hashes = 0;               // At least 1.
  std::uint32_t block_bits = 0;           // All positions of a key are in one block of this many bits; 0: anywhere.
  std::optional<std::int32_t> seed = {};  // Only Spark's filters have one.
};

/// The place of bit i. Both orders use the mask 1 << (i % 8).
enum class BitOrder : std::uint8_t {
  kBytes,           // Byte i / 8: plain bytes, equivalent to little-endian words.
  kBigEndianWords,  // Big-endian 64-bit words: each group of eight bytes is reversed.
};

template <BitOrder kOrder>
constexpr std::uint64_t byte_of(std::uint64_t position) {
  return kOrder == BitOrder::kBytes ? position / 8 : (position / 8) ^ 7;
}

/// The positions of one key in sequence, all below shape.bits.
template <typename T>
concept PositionSequence = std::constructible_from<T, std::string_view, const BloomShape&> && requires(T positions) {
  { positions.next() } -> std::same_as<std::uint64_t>;
};

template <typename Word>
constexpr Word unchanged(Word word) {
  return word;
}
/// The complement of what is negative in Java's signed words.
template <typename Word>
constexpr Word flipped(Word word) {
  return (word >> (8 * sizeof(Word) - 1)) != 0 ? ~word : word;
}

/// Double hashing: value, value + step, value + 2·step, …; words wrap around. `kReduced` of a word, modulo the bits, is
/// the position.
template <typename Word, Word (*kReduced)(Word) = unchanged<Word>>
class SteppedPositions {
 public:
  std::uint64_t next() {
    const std::uint64_t position = kReduced(value_) % bits_;
    value_ += step_;
    return position;
  }

 protected:
  explicit SteppedPositions(const BloomShape& shape, Word value = 0, Word step = 0)
      : value_(value), step_(step), bits_(shape.bits) {}

  Word value_;
  Word step_;
  std::uint64_t bits_;
};

/// A layout's positions and bit order as functions, with the types erased.
///
/// Threads: immutable.
struct BloomScheme {
  BitOrder order;
  bool (*may_contain)(Bytes bits, const BloomShape& shape, std::string_view key);
  void (*add)(MutableBytes bits, const BloomShape& shape, std::string_view key);
};

template <PositionSequence Positions, BitOrder kOrder>
class BloomCore {
 public:
  static bool may_contain(Bytes bits, const BloomShape& shape, std::string_view key) {
    Positions positions(key, shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) {
      const std::uint64_t position = positions.next();
      TAMIS_INVARIANT(position < shape.bits);
      if ((bits[byte_of<kOrder>(position)] & mask_of(position)) == std::byte{0}) return false;
    }
    return true;
  }

  static void add(MutableBytes bits, const BloomShape& shape, std::string_view key) {
    Positions positions(key, shape);
    for (std::uint32_t i = 0; i < shape.hashes; ++i) {
      const std::uint64_t position = positions.next();
      TAMIS_INVARIANT(position < shape.bits);
      bits[byte_of<kOrder>(position)] |= mask_of(position);
    }
  }

 private:
  static constexpr std::byte mask_of(std::uint64_t position) {
    return std::byte{static_cast<unsigned char>(1U << (position % 8))};
  }
};

template <PositionSequence Positions, BitOrder kOrder>
inline constexpr BloomScheme kBloomScheme = {kOrder, BloomCore<Positions, kOrder>::may_contain,
                                             BloomCore<Positions, kOrder>::add};

}  // namespace tamis::foreign
