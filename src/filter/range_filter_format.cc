#include "filter/range_filter_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/try.h"

namespace tamis {

using namespace range_filter;

/// A group's bytes, taken apart. Valid as long as the filter.
struct RangeFilter::Group {
  std::uint32_t codes = 0;
  std::uint32_t low_bits = 0;
  std::uint32_t positions = 0;
  bool is_whole = false;
  std::string_view separator;
  std::string_view prefix;
  const std::byte* at_positions = nullptr;
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;

  [[nodiscard]] KeyNumbers numbers() const { return {at_positions, positions, is_whole}; }
  [[nodiscard]] std::size_t low_bytes() const { return (std::size_t{codes} * low_bits + 7) / 8; }
  [[nodiscard]] std::size_t high_words() const { return (2 * std::size_t{codes} + 63) / 64; }
  [[nodiscard]] std::uint64_t high_word(std::size_t i) const { return load_le<std::uint64_t>(high + 8 * i); }
  /// The high part follows the low one, so eight bytes can be loaded from any of its bits.
  [[nodiscard]] std::uint64_t low_part(std::size_t i) const {
    const std::size_t bit = i * low_bits;
    const std::uint64_t mask = (std::uint64_t{1} << low_bits) - 1;
    return (load_le<std::uint64_t>(low + bit / 8) >> bit % 8) & mask;
  }
  [[nodiscard]] bool has_code(std::uint64_t first, std::uint64_t last) const;
};

/// The codes with the same high bits are neighbours: ones behind as many zeros as those bits say.
bool RangeFilter::Group::has_code(std::uint64_t first, std::uint64_t last) const {
  const std::uint64_t top = first >> low_bits;
  std::size_t bit = 0;
  std::uint64_t zeros = top;  // Still to be passed.
  while (zeros > 0) {
    const std::uint64_t unset = ~high_word(bit / 64);
    const auto here = static_cast<std::uint64_t>(std::popcount(unset));
    if (here < zeros) {
      zeros -= here;
      bit += 64;
      continue;
    }
    std::uint64_t left = unset;
    for (; zeros > 1; --zeros) left &= left - 1;
    bit += static_cast<std::size_t>(std::countr_zero(left)) + 1;
    zeros = 0;
  }
  std::uint64_t high_part = top;
  for (std::size_t i = bit - top; i < codes; ++bit) {
    if (((high_word(bit / 64) >> bit % 64) & 1) == 0) {
      if (++high_part > last >> low_bits) return false;
      continue;
    }
    const std::uint64_t code = high_part << low_bits | low_part(i++);
    if (code >= first) return code <= last;
  }
  return false;
}

Result<RangeFilter> RangeFilter::open(AlignedBytes bytes, const KeyHasher::Key& hash_key, std::string_view name) {
  RangeFilter filter(std::move(bytes), hash_key);
  TAMIS_TRY_STATUS(filter.check(name));
  return filter;
}

Status RangeFilter::check(std::string_view name) {
  ByteReader reader(bytes(), name);
  TAMIS_TRY(const Bytes magic, reader.read(kMagic.size(), "magic of a range filter"));
  if (as_text(magic) != kMagic) return reader.corruption("not a range filter");
  TAMIS_TRY(const auto version, reader.read_le<std::uint16_t>("version"));
  if (version != kVersion) {
    return Status::not_supported(
        fmt::format("{}: a range filter of version {}; this build knows version {}", name, version, kVersion));
  }
  TAMIS_TRY(const auto zero, reader.read_le<std::uint16_t>("zero"));
  TAMIS_TRY(groups_, reader.read_le<std::uint32_t>("groups"));
  TAMIS_TRY(keys_, reader.read_le<std::uint64_t>("keys"));
  TAMIS_TRY(const auto checksum, reader.read_le<std::uint64_t>("checksum"));
  const std::uint64_t computed = checksum_of(bytes().first(kChecksumAt), bytes().subspan(kHeaderBytes), hasher_);
  if (checksum != computed) {
    return reader.corruption(fmt::format("the checksum is {:016x}, the bytes have {:016x}", checksum, computed));
  }
  if (zero != 0) return reader.corruption("bytes that are not zero");
  TAMIS_TRY_STATUS(reader.skip(4 * std::uint64_t{groups_}, "begins of groups"));
  for (std::uint32_t number = 0; number < groups_; ++number) {
    const std::byte* const begins = bytes_.data() + kHeaderBytes;
    if (load_le<std::uint32_t>(begins + 4 * std::size_t{number}) != reader.offset()) {
      return reader.corruption("a group does not begin where the one before ends");
    }
    TAMIS_TRY_STATUS(check_group(reader));
    if (number > 0 && separator(number) <= separator(number - 1)) return reader.corruption("separators do not ascend");
  }
  return reader.expect_end();
}

Status RangeFilter::check_group(ByteReader& reader) {
  TAMIS_TRY(const auto codes, reader.read_le<std::uint32_t>("codes"));
  TAMIS_TRY(const auto separator_bytes, reader.read_le<std::uint16_t>("bytes of a separator"));
  TAMIS_TRY(const auto prefix_bytes, reader.read_le<std::uint16_t>("bytes of a prefix"));
  TAMIS_TRY(const auto positions, reader.read_le<std::uint8_t>("positions"));
  TAMIS_TRY(const auto low_bits, reader.read_le<std::uint8_t>("low bits"));
  TAMIS_TRY(const auto is_whole, reader.read_le<std::uint8_t>("flag of a group"));
  if (codes == 0 || codes > kMostCodes || prefix_bytes > separator_bytes || low_bits > kMostLowBits || is_whole > 1) {
    return reader.corruption("a group of impossible numbers");
  }
  TAMIS_TRY_STATUS(reader.skip(separator_bytes, "separator"));
  Wide numbers = 1;
  for (std::uint32_t i = 0; i < positions; ++i) {
    TAMIS_TRY(const Bytes head, reader.read(kPositionBytes, "position"));
    const Position position(head.data());
    if (position.smallest() > position.largest() || position.flags() > (kMayEnd | kHasBitmap)) {
      return reader.corruption("an impossible position");
    }
    TAMIS_TRY_STATUS(reader.skip(position.bytes() - kPositionBytes, "bitmap of a position"));
    const std::uint32_t radix = position.radix();
    numbers *= radix;
    if (radix == 0 || numbers > kMostNumbers) return reader.corruption("positions of no or too many numbers");
  }
  TAMIS_TRY_STATUS(reader.skip((std::uint64_t{codes} * low_bits + 7) / 8, "low bits of codes"));
  TAMIS_TRY(const Bytes high, reader.read((2 * std::uint64_t{codes} + 63) / 64 * 8, "high bits of codes"));
  std::uint64_t ones = 0;
  for (std::size_t at = 0; at < high.size(); at += 8) {
    ones += static_cast<std::uint64_t>(std::popcount(load_le<std::uint64_t>(high.data() + at)));
  }
  const std::size_t used = 2 * std::size_t{codes} % 64;
  const std::uint64_t last = load_le<std::uint64_t>(high.data() + high.size() - 8);
  if (ones != codes || (used != 0 && last >> used != 0)) return reader.corruption("codes that are not as many");
  return {};
}

std::string_view RangeFilter::separator(std::uint32_t group) const {
  const std::byte* const at =
      bytes_.data() + load_le<std::uint32_t>(bytes_.data() + kHeaderBytes + 4 * std::size_t{group});
  return {reinterpret_cast<const char*>(at) + kGroupHeadBytes, load_le<std::uint16_t>(at + 4)};
}

RangeFilter::Group RangeFilter::group(std::uint32_t number) const {
  const std::byte* at = bytes_.data() + load_le<std::uint32_t>(bytes_.data() + kHeaderBytes + 4 * std::size_t{number});
  Group group;
  group.codes = load_le<std::uint32_t>(at);
  group.positions = std::to_integer<std::uint32_t>(at[8]);
  group.low_bits = std::to_integer<std::uint32_t>(at[9]);
  group.is_whole = at[10] != std::byte{0};
  group.separator = separator(number);
  group.prefix = group.separator.substr(0, load_le<std::uint16_t>(at + 6));
  at += kGroupHeadBytes + group.separator.size();
  group.at_positions = at;
  for (std::uint32_t i = 0; i < group.positions; ++i) at += Position(at).bytes();
  group.low = at;
  group.high = at + group.low_bytes();
  return group;
}

bool RangeFilter::may_contain(std::string_view from, std::string_view to) const {
  if (to <= from) return false;
  std::uint32_t first = 0;  // The last group that begins at or before `from`.
  for (std::uint32_t end = groups_; end - first > 1;) {
    const std::uint32_t middle = first + (end - first) / 2;
    (separator(middle) <= from ? first : end) = middle;
  }
  for (std::uint32_t number = first; number < groups_; ++number) {
    const Group group = this->group(number);
    if (group.separator >= to) return false;
    // All of it lies in the range.
    if (group.separator >= from && number + 1 < groups_ && separator(number + 1) <= to) return true;
    if (may_contain(group, from, to)) return true;
  }
  return false;
}

bool RangeFilter::may_contain(const Group& group, std::string_view from, std::string_view to) const {
  const KeyNumbers numbers = group.numbers();
  const std::size_t prefix = group.prefix.size();
  Wide first = 0;
  if (from.starts_with(group.prefix)) {
    first = numbers.first_from(from.substr(prefix));
  } else if (from > group.prefix) {
    return false;
  }
  Wide end = 0;
  if (to.starts_with(group.prefix)) {
    end = numbers.end_before(to.substr(prefix));
  } else if (to > group.prefix) {
    end = numbers.numbers();
  }
  return first < end && has_number(group, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end - 1));
}

bool RangeFilter::has_number(const Group& group, std::uint64_t first, std::uint64_t last) const {
  const Codes codes(hasher_, group.codes, group.low_bits);
  if (last - first >= codes.range()) return true;
  const auto has = [&](std::uint64_t begin, std::uint64_t end) {  // Of one block.
    const std::uint64_t from = codes.of(begin);
    const std::uint64_t to = codes.of(end);
    if (from <= to) return group.has_code(from, to);
    return group.has_code(from, codes.range() - 1) || group.has_code(0, to);
  };
  const std::uint64_t next_block = last - last % codes.range();
  return next_block <= first ? has(first, last) : has(first, next_block - 1) || has(next_block, last);
}

double RangeFilter::rate(std::uint64_t length) const {
  double sum = 0;
  double all = 0;
  for (std::uint32_t number = 0; number < groups_; ++number) {
    const Group group = this->group(number);
    const double share =
        std::min(1.0, std::ldexp(static_cast<double>(length), -static_cast<int>(group.low_bits)) / group.codes);
    sum += group.codes * -std::expm1(group.codes * std::log1p(-share));
    all += group.codes;
  }
  return all == 0 ? 0 : sum / all;
}

}  // namespace tamis
