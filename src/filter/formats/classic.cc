#include "filter/formats/classic.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>
#include <utility>

namespace tamis::foreign {

std::uint64_t keys_to_size_for(const BuildOptions& options, std::size_t keys) {
  return std::max<std::uint64_t>(options.expected_keys.value_or(keys), 1);
}

double ideal_bits(std::uint64_t keys, double rate) {
  return -static_cast<double>(keys) * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2);
}

Result<std::uint64_t> checked_bits(double bits) {
  if (!(bits <= static_cast<double>(kMaxBuildBits))) {
    return Status::invalid_argument(
        fmt::format("a filter of {:.0f} bits is too large; at most {}", bits, kMaxBuildBits));
  }
  return checked_bits(static_cast<std::uint64_t>(bits));
}

Result<std::uint64_t> checked_bits(std::uint64_t bits) {
  if (bits == 0) return Status::invalid_argument("a filter needs at least one bit");
  if (bits > kMaxBuildBits) {
    return Status::invalid_argument(fmt::format("a filter of {} bits is too large; at most {}", bits, kMaxBuildBits));
  }
  return bits;
}

Result<std::uint64_t> bits_by_rate(const BuildOptions& options, std::uint64_t keys) {
  if (options.bits) return checked_bits(*options.bits);
  return checked_bits(std::ceil(ideal_bits(keys, options.fpr.value_or(0.01))));
}

Result<std::uint32_t> checked_hashes(const BuildOptions& options, double computed, std::uint32_t limit) {
  const double hashes = options.hashes ? static_cast<double>(*options.hashes) : computed;
  if (!(hashes >= 1 && hashes <= limit)) {
    return Status::invalid_argument(fmt::format("{} takes 1 to {} hashes, not {:.0f}", options.format, limit, hashes));
  }
  return static_cast<std::uint32_t>(hashes);
}

Result<std::uint32_t> whole_bits_per_key(const BuildOptions& options, std::uint32_t fallback) {
  const double bits_per_key = options.bits_per_key.value_or(fallback);
  if (bits_per_key < 1 || bits_per_key != std::floor(bits_per_key)) {
    return Status::invalid_argument(
        fmt::format("{} takes a whole number of bits per key, at least 1, not {}", options.format, bits_per_key));
  }
  return static_cast<std::uint32_t>(bits_per_key);
}

Result<std::string> zeroed_file(std::string_view head, std::uint64_t bytes, std::string_view tail) {
  std::string file;
  try {
    file.reserve(head.size() + bytes + tail.size());
  } catch (const std::bad_alloc&) {
    return Status::out_of_space(fmt::format("no memory for a filter of {} bytes", bytes));
  }
  file.append(head).append(bytes, '\0').append(tail);
  return file;
}

Result<ProbePtr> open_classic(const ClassicLayout& layout, const Input& input, std::string detail) {
  ByteReader reader(input.bytes, input.name);
  TAMIS_TRY(const BloomShape shape, layout.read_header(reader, input.options));
  if (shape.bits == 0) return reader.corruption("a filter of 0 bits");
  TAMIS_TRY(const Bytes bits, reader.read(body_bytes(shape.bits, layout.unit_bits), "the bit array"));
  TAMIS_TRY_STATUS(reader.expect_end());
  return ProbePtr(std::make_unique<BloomProbe>(layout.scheme, shape, bits, std::move(detail)));
}

Result<std::string> build_classic(const ClassicLayout& layout, std::span<const std::string> keys,
                                  const BuildOptions& options) {
  TAMIS_TRY(const BloomShape shape, layout.size(options, keys_to_size_for(options, keys.size())));
  std::string header;
  layout.write_header(header, shape);
  return build_bits(layout.scheme, shape, keys, header, body_bytes(shape.bits, layout.unit_bits));
}

std::string write_classic(const ClassicLayout& layout, const PlainBits& plain) {
  std::string file;
  layout.write_header(file, plain.shape);
  const std::size_t begin = file.size();
  file.resize(begin + static_cast<std::size_t>(body_bytes(plain.shape.bits, layout.unit_bits)), '\0');
  for (std::size_t i = 0; i < plain.bits.size(); ++i) {
    file[begin + (layout.scheme.order == BitOrder::kBytes ? i : i ^ 7)] = plain.bits[i];
  }
  return file;
}

Result<BloomShape> size_in_words(const BuildOptions& options, std::uint64_t keys, double default_rate,
                                 std::uint32_t most_hashes) {
  if (options.words.value_or(0) > kMaxBuildBits / 64) {
    return Status::invalid_argument(fmt::format("too many words: {}", *options.words));
  }
  double wanted = std::floor(ideal_bits(keys, options.fpr.value_or(default_rate)));
  if (options.bits) wanted = static_cast<double>(*options.bits);
  if (options.words) wanted = static_cast<double>(*options.words * 64);
  TAMIS_TRY(const std::uint64_t bits, checked_bits(wanted));
  const double best = std::floor(wanted / static_cast<double>(keys) * std::numbers::ln2 + 0.5);
  TAMIS_TRY(const std::uint32_t hashes, checked_hashes(options, std::max(1.0, best), most_hashes));
  return BloomShape{.bits = (bits + 63) / 64 * 64, .hashes = hashes};
}

Result<std::uint64_t> read_words(ByteReader& reader) {
  TAMIS_TRY(const std::uint32_t words, reader.read_be<std::uint32_t>("the number of words"));
  if (words > 0x7fffffffU) return reader.corruption("a negative length");
  return std::uint64_t{words} * 64;
}

Status check_hashes(const ByteReader& reader, std::uint64_t hashes, std::uint32_t limit) {
  if (hashes >= 1 && hashes <= limit) return {};
  return reader.corruption(fmt::format("{} hashes per key; must be 1 to {}", hashes, limit));
}

}  // namespace tamis::foreign
