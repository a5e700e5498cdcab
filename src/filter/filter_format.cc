#include "filter/filter_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/file_header_format.h"
#include "base/hash.h"
#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kFirstSliceOffset = 112;
constexpr std::size_t kChecksumOffset = 120;
constexpr std::size_t kFeaturesOffset = 16;
constexpr std::uint64_t kLogFollows = 1;
constexpr std::uint64_t kKnownRequiredFeatures = kLogFollows;

std::uint64_t container_checksum(Bytes container, const FilterHeader& header) {
  const Bytes body = container.subspan(kFilterHeaderBytes);
  const bool in_slices = header.layout == FilterLayout::kSlices;
  return checksum64(container.first(kChecksumOffset), in_slices ? body.first(header.first_slice_bytes) : body);
}

/// Whether the bytes after the header are what it announces.
Status check_body_length(std::uint64_t announced, Bytes container, FilterHeader& header, const ByteReader& at) {
  const std::uint64_t there = container.size() - kFilterHeaderBytes;
  if (header.layout == FilterLayout::kSlices) {
    header.all_slices_bytes = announced;
    header.first_slice_bytes = load_le<std::uint64_t>(container.data() + kFirstSliceOffset);
    if (header.first_slice_bytes <= there && there <= announced) return {};
    return at.corruption(
        fmt::format("the header announces a body of {} bytes with a first slice of {}, the file has {}", announced,
                    header.first_slice_bytes, there));
  }
  if (announced == there) return {};
  return at.corruption(fmt::format("the header announces a body of {} bytes, the file has {}", announced, there));
}

Result<FilterSeed> decode_seed(Bytes raw, std::uint8_t mode, const ByteReader& at) {
  FilterSeed seed;
  if (mode == 0) {
    seed.seed = load_le<std::uint64_t>(raw.data());
    if (load_le<std::uint64_t>(raw.data() + 8) != 0) return at.corruption("a public seed of more than 8 bytes");
    return seed;
  }
  if (mode != 1) return at.corruption(fmt::format("unknown seed mode {}", mode));
  std::memcpy(seed.key.emplace().data(), raw.data(), raw.size());
  return seed;
}

Result<PrefixRule> decode_prefix_rule(std::uint8_t kind, std::uint16_t argument, const ByteReader& at) {
  const bool known = (kind == 0 && argument == 0) || (kind == 1 && argument > 0) || (kind == 2 && argument < 256);
  if (!known) return at.corruption(fmt::format("unknown prefix rule {} with argument {}", kind, argument));
  return PrefixRule{static_cast<PrefixRule::Kind>(kind), argument};
}

/// Magic, version, header length, features: everything that decides whether this build can read the rest.
Status check_preamble(ByteReader& reader) {
  const ByteReader start = reader;
  TAMIS_TRY(const Bytes magic, reader.read(kFilterMagic.size(), "magic"));
  if (as_text(magic) != kFilterMagic) return start.corruption("not a tamis filter: the magic is wrong");
  TAMIS_TRY(const auto version, reader.read_le<std::uint16_t>("version"));
  if (version != kFilterVersion) {
    return reader.corruption(fmt::format("format version {} is newer than this build reads ({}); use a newer tamis",
                                         version, kFilterVersion));
  }
  return {};
}

Status check_lengths_and_features(ByteReader& reader, Bytes container) {
  TAMIS_TRY(const auto header_bytes, reader.read_le<std::uint32_t>("header length"));
  if (header_bytes != kFilterHeaderBytes) {
    return reader.corruption(fmt::format("header of {} bytes, {} expected", header_bytes, kFilterHeaderBytes));
  }
  TAMIS_TRY(const auto required, reader.read_le<std::uint64_t>("required features"));
  if ((required & ~kKnownRequiredFeatures) != 0) {
    return reader.corruption(fmt::format("required feature {} is not known to this build; use a newer tamis",
                                         std::countr_zero(required & ~kKnownRequiredFeatures)));
  }
  TAMIS_TRY_STATUS(reader.skip(8, "optional features"));
  if (container.size() < kFilterHeaderBytes) {
    return reader.corruption(
        fmt::format("{} bytes are too few for a header of {}: the file is cut", container.size(), kFilterHeaderBytes));
  }
  return {};
}

}  // namespace

double rate_in_header(double rate) {
  constexpr double kBits = 0x1p20;
  int exponent = 0;
  const double fraction = std::frexp(rate * (1 + 0x1p-40), &exponent);
  return std::min(1.0, std::ldexp(std::floor(fraction * kBits) / kBits, exponent));
}

void encode_filter_header(const FilterHeader& header, MutableBytes container) {
  TAMIS_CHECK(container.size() >= kFilterHeaderBytes);
  std::string raw;
  append_file_header(raw, {kFilterMagic, "filter", kFilterVersion, kFilterHeaderBytes},
                     {.kind = header.kind, .layout = static_cast<std::uint8_t>(header.layout)});
  append_le(raw, header.keys);
  const bool in_slices = header.layout == FilterLayout::kSlices;
  append_le(raw, in_slices ? header.all_slices_bytes : std::uint64_t{container.size() - kFilterHeaderBytes});
  if (header.seed.key) {
    raw.append(as_text(*header.seed.key));
  } else {
    append_le(raw, header.seed.seed);
    append_le(raw, std::uint64_t{0});
  }
  append_le(raw, static_cast<std::uint8_t>(header.seed.key.has_value()));
  append_le(raw, static_cast<std::uint8_t>(header.prefix_rule.kind));
  append_le(raw, header.prefix_rule.argument);
  append_le(raw, header.hashes);
  for (const std::uint64_t number : header.numbers) append_le(raw, number);
  append_le(raw, std::bit_cast<std::uint64_t>(header.designed_rate));
  append_le(raw, header.first_slice_bytes);
  TAMIS_CHECK(raw.size() == kChecksumOffset);
  std::memcpy(container.data(), raw.data(), raw.size());
  store_le(container.data() + kChecksumOffset, container_checksum(container, header));
}

bool has_filter_log(Bytes file) {
  return file.size() >= kFilterHeaderBytes && as_text(file).starts_with(kFilterMagic) &&
         (load_le<std::uint64_t>(file.data() + kFeaturesOffset) & kLogFollows) != 0;
}

void announce_filter_log(MutableBytes container) {
  TAMIS_CHECK(container.size() >= kFilterHeaderBytes);
  store_le(container.data() + kFeaturesOffset,
           load_le<std::uint64_t>(container.data() + kFeaturesOffset) | kLogFollows);
  store_le(container.data() + kChecksumOffset,
           checksum64(container.first(kChecksumOffset), container.subspan(kFilterHeaderBytes)));
}

std::uint64_t filter_checksum(Bytes file) { return load_le<std::uint64_t>(file.data() + kChecksumOffset); }

Result<std::uint64_t> announced_filter_bytes(Bytes header, std::string_view name) {
  ByteReader reader(header, name);
  TAMIS_TRY_STATUS(check_preamble(reader));
  TAMIS_TRY_STATUS(reader.skip(2, "kind and layout"));
  TAMIS_TRY_STATUS(check_lengths_and_features(reader, header));
  TAMIS_TRY_STATUS(reader.skip(8, "key count"));
  TAMIS_TRY(const auto body_bytes, reader.read_le<std::uint64_t>("body length"));
  if (body_bytes > SIZE_MAX - kFilterHeaderBytes)
    return reader.corruption(fmt::format("a body of {} bytes", body_bytes));
  return body_bytes + kFilterHeaderBytes;
}

Result<FilterHeader> decode_filter_header(Bytes container, std::string_view name) {
  ByteReader reader(container, name);
  FilterHeader header;
  TAMIS_TRY_STATUS(check_preamble(reader));
  TAMIS_TRY(header.kind, reader.read_le<std::uint8_t>("kind"));
  TAMIS_TRY(const auto layout, reader.read_le<std::uint8_t>("layout"));
  if (layout > 2) return reader.corruption(fmt::format("unknown layout {}", layout));
  header.layout = static_cast<FilterLayout>(layout);
  TAMIS_TRY_STATUS(check_lengths_and_features(reader, container));
  TAMIS_TRY(header.keys, reader.read_le<std::uint64_t>("key count"));
  TAMIS_TRY(const auto body_bytes, reader.read_le<std::uint64_t>("body length"));
  TAMIS_TRY_STATUS(check_body_length(body_bytes, container, header, reader));
  const auto announced = load_le<std::uint64_t>(container.data() + kChecksumOffset);
  if (const std::uint64_t actual = container_checksum(container, header); actual != announced) {
    return Status::corruption(fmt::format("{}: at offset {}: the checksum is {:016x}, the file's bytes have {:016x}",
                                          name, kChecksumOffset, announced, actual));
  }
  TAMIS_TRY(const Bytes seed, reader.read(16, "seed"));
  TAMIS_TRY(const auto seed_mode, reader.read_le<std::uint8_t>("seed mode"));
  TAMIS_TRY(header.seed, decode_seed(seed, seed_mode, reader));
  TAMIS_TRY(const auto rule, reader.read_le<std::uint8_t>("prefix rule"));
  TAMIS_TRY(const auto argument, reader.read_le<std::uint16_t>("prefix argument"));
  TAMIS_TRY(header.prefix_rule, decode_prefix_rule(rule, argument, reader));
  TAMIS_TRY(header.hashes, reader.read_le<std::uint32_t>("hashes"));
  for (std::uint64_t& number : header.numbers) {
    TAMIS_TRY(number, reader.read_le<std::uint64_t>("parameters"));
  }
  TAMIS_TRY(const auto rate, reader.read_le<std::uint64_t>("designed rate"));
  header.designed_rate = std::bit_cast<double>(rate);
  if (!(header.designed_rate >= 0 && header.designed_rate <= 1))
    return reader.corruption("the designed rate is not in 0 … 1");
  TAMIS_TRY(const auto first_slice, reader.read_le<std::uint64_t>("length of the first slice"));
  if (first_slice != header.first_slice_bytes) return reader.corruption("reserved bytes are not zero");
  return header;
}

}  // namespace tamis
