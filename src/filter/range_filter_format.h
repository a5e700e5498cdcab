// A filter that answers whether a set has a key in a range.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "filter/range_filter_layout_format.h"
#include "tamis/status.h"

namespace tamis {

/// Answers whether a range may have a key of a sorted set, from a few bits per key. The keys are divided into groups of
/// neighbours; a group numbers its keys in order (KeyNumbers) and keeps a code of each number. Codes are those of
/// Grafite (Costa, Ferragina, Vinciguerra, 2024): blocks of numbers are shifted by a keyed hash and overlaid, so that a
/// range of numbers is a range of codes or two, and a range of L numbers without a key has one of n codes by chance in
/// at most L · 2^-l of the cases, wherever it is.
///
/// Invariants:
///  1. A range that has a key is never denied.
///  2. Its bytes were checked when it was opened.
///
/// Threads: constant.
class RangeFilter {
 public:
  /// kCorruption if the bytes are damaged or were written with another key; kNotSupported for another version.
  static Result<RangeFilter> open(AlignedBytes bytes, const KeyHasher::Key& hash_key, std::string_view name);

  /// False: no key is in from <= key < to.
  [[nodiscard]] bool may_contain(std::string_view from, std::string_view to) const;

  [[nodiscard]] Bytes bytes() const { return bytes_.span(); }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }
  [[nodiscard]] std::uint32_t groups() const { return groups_; }
  /// At most how often a range of `length` numbers without a key is not denied; for text, a range has more numbers than
  /// keys could lie in it.
  [[nodiscard]] double rate(std::uint64_t length) const;

 private:
  struct Group;

  RangeFilter(AlignedBytes bytes, const KeyHasher::Key& hash_key) : bytes_(std::move(bytes)), hasher_(hash_key) {}
  Status check(std::string_view name);
  static Status check_group(ByteReader& reader);
  [[nodiscard]] std::string_view separator(std::uint32_t group) const;
  [[nodiscard]] Group group(std::uint32_t number) const;
  [[nodiscard]] bool may_contain(const Group& group, std::string_view from, std::string_view to) const;
  [[nodiscard]] bool has_number(const Group& group, std::uint64_t first, std::uint64_t last) const;

  AlignedBytes bytes_;
  KeyHasher hasher_;
  std::uint64_t keys_ = 0;
  std::uint32_t groups_ = 0;
};

/// Makes the bytes of a range filter from keys in ascending order. Holds the keys of one group, and what is complete.
///
/// Threads: one.
class RangeFilterBuilder {
 public:
  /// Of a group: range_filter_layout_format.h.
  struct Positions {
    std::string bytes;
    std::uint32_t count = 0;
    bool are_all = false;  // No key goes on after them.
  };

  /// Filters of few keys take more bits, because of what each group needs besides.
  RangeFilterBuilder(double bits_per_key, const KeyHasher::Key& hash_key);

  /// Above all keys before.
  void add(std::string_view key);
  /// None if a filter does not suit the keys: neighbours that begin alike for kilobytes.
  [[nodiscard]] std::optional<std::string> finish();
  [[nodiscard]] std::uint64_t memory_bytes() const;

 private:
  [[nodiscard]] std::string_view key(std::size_t i) const;
  void end_group();
  void write_group(std::size_t begin, std::size_t end);
  [[nodiscard]] Positions positions_of(std::size_t begin, std::size_t end, std::size_t prefix) const;
  [[nodiscard]] std::vector<std::uint64_t> numbers_of(std::size_t begin, std::size_t end, std::size_t prefix,
                                                      const Positions& positions) const;
  void append_codes(std::vector<std::uint64_t> numbers, std::uint32_t low_bits);

  const double bits_per_key_;
  const KeyHasher hasher_;
  std::string text_;                   // The keys of the group, without what no group looks at.
  std::vector<std::size_t> ends_;      // Of each in text_.
  std::string last_;                   // The last key of the group before.
  std::string body_;                   // Groups.
  std::vector<std::uint64_t> begins_;  // Of each in body_.
  std::uint64_t keys_ = 0;
  bool is_unsuited_ = false;
};

}  // namespace tamis
