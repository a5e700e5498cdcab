// Writes a range filter: range_filter_layout_format.h has the layout.
#include <algorithm>
#include <array>
#include <bitset>
#include <limits>
#include <span>

#include "base/check.h"
#include "filter/range_filter_format.h"

namespace tamis {
namespace {

using namespace range_filter;

constexpr std::size_t kGroupKeys = 1024;                     // Separators and positions take about a bit per key.
constexpr std::size_t kFewestGroupKeys = 128;                // Of URLs, they take 8 bits.
constexpr std::size_t kGroupBytes = std::size_t{256} << 10;  // Of its keys, in memory.
constexpr std::size_t kMostKeyBytes = 1024;                  // Looked at.
constexpr std::size_t kMostPositions = 32;
constexpr std::size_t kMostPrefixBytes = kMostKeyBytes - kMostPositions - 1;  // Positions end before keys are cut.
constexpr double kFewestLowBits = 4;
constexpr double kHighBits = 2;  // Of each code, besides the low ones.
/// Where keys are too long for positions to tell all apart: more positions tell more of them apart, but make the ranges
/// between them longer. Measured for URLs in docs/decisions/0069.
constexpr std::uint64_t kNumbersPerCode = 4096;

/// What keys have at one position.
struct Occurring {
  std::bitset<256> bytes;
  bool may_end = false;
};

void append_position(std::string& to, const Occurring& occurring) {
  unsigned smallest = 0;
  unsigned largest = 255;
  while (!occurring.bytes[smallest]) ++smallest;
  while (!occurring.bytes[largest]) --largest;
  const unsigned span = 1 + largest - smallest;
  const bool has_bitmap = 4 * occurring.bytes.count() < 3 * std::size_t{span};
  to.push_back(static_cast<char>(smallest));
  to.push_back(static_cast<char>(largest));
  to.push_back(static_cast<char>((occurring.may_end ? kMayEnd : 0) | (has_bitmap ? kHasBitmap : 0)));
  if (!has_bitmap) return;
  std::string bitmap((span + 7) / 8, '\0');
  for (unsigned i = 0; i < span; ++i) {
    if (occurring.bytes[smallest + i]) bitmap[i / 8] = static_cast<char>(bitmap[i / 8] | (1 << i % 8));
  }
  to += bitmap;
}

/// The first ones, as far as they have at most so many numbers together.
RangeFilterBuilder::Positions first_positions(std::span<const Occurring> all, Wide most) {
  RangeFilterBuilder::Positions positions;
  Wide numbers = 1;
  for (const Occurring& occurring : all) {
    std::string bytes;
    append_position(bytes, occurring);
    numbers *= Position(as_bytes(bytes).data()).radix();
    if (numbers > most) break;
    positions.bytes += bytes;
    ++positions.count;
  }
  return positions;
}

/// Bits, least significant first.
class BitWriter {
 public:
  explicit BitWriter(std::size_t bits) : bytes_((bits + 7) / 8, '\0') {}
  void set(std::size_t bit) { bytes_[bit / 8] = static_cast<char>(bytes_[bit / 8] | (1 << bit % 8)); }
  void put(std::size_t at, std::uint64_t value, std::uint32_t bits) {
    for (std::uint32_t i = 0; i < bits; ++i) {
      if (((value >> i) & 1) != 0) set(at + i);
    }
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace

RangeFilterBuilder::RangeFilterBuilder(double bits_per_key, const KeyHasher::Key& hash_key)
    : bits_per_key_(bits_per_key), hasher_(hash_key) {}

std::string_view RangeFilterBuilder::key(std::size_t i) const {
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::string_view(text_).substr(begin, ends_[i] - begin);
}

void RangeFilterBuilder::add(std::string_view key) {
  if (is_unsuited_) return;
  if (ends_.size() == kGroupKeys || text_.size() >= kGroupBytes) end_group();
  text_ += key.substr(0, kMostKeyBytes);
  ends_.push_back(text_.size());
  ++keys_;
}

void RangeFilterBuilder::end_group() {
  write_group(0, ends_.size());
  last_ = key(ends_.size() - 1);
  text_.clear();
  ends_.clear();
}

/// Halves a group whose positions do not tell its keys apart: those of the halves begin later.
void RangeFilterBuilder::write_group(std::size_t begin, std::size_t end) {
  const std::string_view first = key(begin);
  const std::size_t prefix = std::min(common_prefix(first, key(end - 1)), kMostPrefixBytes);
  const Positions positions = positions_of(begin, end, prefix);
  const std::vector<std::uint64_t> numbers = numbers_of(begin, end, prefix, positions);
  const std::size_t keys = end - begin;
  if (!positions.are_all && keys > kFewestGroupKeys && 4 * numbers.size() < 3 * keys) {
    write_group(begin, begin + keys / 2);
    return write_group(begin + keys / 2, end);
  }
  const std::string_view before = begin == 0 ? std::string_view(last_) : key(begin - 1);
  const std::size_t distinct = begins_.empty() ? 0 : common_prefix(before, first) + 1;
  if (distinct > kMostPrefixBytes) is_unsuited_ = true;
  const std::string_view separator = first.substr(0, std::max(prefix, distinct));
  const std::size_t besides = 4 + kGroupHeadBytes + separator.size() + positions.bytes.size();
  const double bits = bits_per_key_ * static_cast<double>(keys) - 8.0 * static_cast<double>(besides);
  const double low_bits = bits / static_cast<double>(numbers.size()) - kHighBits;
  const auto low = static_cast<std::uint32_t>(std::clamp(low_bits, kFewestLowBits, double{kMostLowBits}));
  begins_.push_back(body_.size());
  append_le(body_, static_cast<std::uint32_t>(numbers.size()));
  append_le(body_, static_cast<std::uint16_t>(separator.size()));
  append_le(body_, static_cast<std::uint16_t>(prefix));
  body_.push_back(static_cast<char>(positions.count));
  body_.push_back(static_cast<char>(low));
  body_.push_back(static_cast<char>(positions.are_all ? 1 : 0));
  body_ += separator;
  body_ += positions.bytes;
  append_codes(numbers, low);
}

/// As many as tell the keys apart, or as ranges are not too long for.
RangeFilterBuilder::Positions RangeFilterBuilder::positions_of(std::size_t begin, std::size_t end,
                                                               std::size_t prefix) const {
  std::array<Occurring, kMostPositions> places;
  std::size_t longest = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const std::string_view rest = key(i).substr(prefix);
    longest = std::max(longest, rest.size());
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (at < rest.size()) {
        places[at].bytes.set(static_cast<unsigned char>(rest[at]));
      } else {
        places[at].may_end = true;
      }
    }
  }
  const std::span<const Occurring> used = std::span(places).first(std::min(longest, places.size()));
  Positions positions = first_positions(used, kMostNumbers);
  positions.are_all = positions.count == longest;
  if (positions.are_all) return positions;
  const double low_bits = std::clamp(bits_per_key_ - kHighBits, kFewestLowBits, double{kMostLowBits});
  return first_positions(used, Wide{(end - begin) * kNumbersPerCode} << static_cast<unsigned>(low_bits));
}

std::vector<std::uint64_t> RangeFilterBuilder::numbers_of(std::size_t begin, std::size_t end, std::size_t prefix,
                                                          const Positions& positions) const {
  const KeyNumbers numbering(as_bytes(positions.bytes).data(), positions.count, positions.are_all);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = begin; i < end; ++i) {
    const auto number = static_cast<std::uint64_t>(numbering.first_from(key(i).substr(prefix)));
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
  }
  return numbers;
}

void RangeFilterBuilder::append_codes(std::vector<std::uint64_t> numbers, std::uint32_t low_bits) {
  const Codes codes(hasher_, numbers.size(), low_bits);
  for (std::uint64_t& number : numbers) number = codes.of(number);
  std::sort(numbers.begin(), numbers.end());
  BitWriter low(numbers.size() * low_bits);
  BitWriter high((2 * numbers.size() + 63) / 64 * 64);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    low.put(i * low_bits, numbers[i], low_bits);
    high.set(i + static_cast<std::size_t>(numbers[i] >> low_bits));
  }
  body_ += low.bytes();
  body_ += high.bytes();
}

std::optional<std::string> RangeFilterBuilder::finish() {
  if (!ends_.empty()) end_group();
  const std::uint64_t bytes = kHeaderBytes + 4 * begins_.size() + body_.size();
  if (is_unsuited_ || bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  std::string head(kMagic);
  append_le(head, kVersion);
  append_le(head, std::uint16_t{0});
  append_le(head, static_cast<std::uint32_t>(begins_.size()));
  append_le(head, keys_);
  std::string rest;
  rest.reserve(static_cast<std::size_t>(bytes) - kHeaderBytes);
  const std::size_t groups_at = kHeaderBytes + 4 * begins_.size();
  for (const std::uint64_t begin : begins_) append_le(rest, static_cast<std::uint32_t>(groups_at + begin));
  rest += body_;
  append_le(head, checksum_of(as_bytes(head), as_bytes(rest), hasher_));
  TAMIS_CHECK(head.size() == kHeaderBytes);
  return head + rest;
}

std::uint64_t RangeFilterBuilder::memory_bytes() const {
  return text_.capacity() + body_.capacity() + ends_.capacity() * sizeof(std::size_t) +
         begins_.capacity() * sizeof(std::uint64_t);
}

}  // namespace tamis
