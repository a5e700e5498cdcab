#include "tree/current_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string>

#include "base/hash.h"
#include "base/try.h"

namespace tamis {
namespace {

constexpr std::size_t kChecksumAt = kCurrentBytes - 8;
constexpr std::uint64_t kKnownRequiredFeatures = 0;

/// Length, magic and checksum, whose position is the same in every version: after this, the contents are intentional.
Status check_whole(Bytes bytes, const ByteReader& reader) {
  if (bytes.size() < kCurrentBytes) {
    return reader.corruption(fmt::format("{} bytes are too few, {} expected", bytes.size(), kCurrentBytes));
  }
  if (as_text(bytes.first(kCurrentMagic.size())) != kCurrentMagic) {
    return reader.corruption("does not name a manifest: the magic is wrong");
  }
  const auto stored = load_le<std::uint64_t>(bytes.data() + kChecksumAt);
  const std::uint64_t computed = checksum64(bytes.first(kChecksumAt));
  if (stored != computed) {
    return reader.corruption(fmt::format("the checksum is {:016x}, the bytes have {:016x}", stored, computed));
  }
  return {};
}

Status check_version(ByteReader& reader, std::string_view name) {
  TAMIS_TRY(const auto version, reader.read_le<std::uint16_t>("version"));
  if (version == kCurrentVersion) return {};
  return Status::not_supported(fmt::format(
      "{}: format version {} is newer than this build reads ({}); use a newer tamis", name, version, kCurrentVersion));
}

Status check_features(ByteReader& reader, std::string_view name) {
  TAMIS_TRY(const auto required, reader.read_le<std::uint64_t>("required features"));
  const std::uint64_t unknown = required & ~kKnownRequiredFeatures;
  if (unknown != 0) {
    return Status::not_supported(fmt::format("{}: required feature {} is not known to this build; use a newer tamis",
                                             name, std::countr_zero(unknown)));
  }
  return reader.skip(8, "optional features");
}

/// Everything before the store id.
Status check_preamble(ByteReader& reader, std::string_view name) {
  TAMIS_TRY_STATUS(reader.skip(kCurrentMagic.size(), "magic"));
  TAMIS_TRY_STATUS(check_version(reader, name));
  TAMIS_TRY(const auto kind, reader.read_le<std::uint8_t>("file kind"));
  if (kind != kCurrentFileKind) return reader.corruption(fmt::format("unknown file kind {}", kind));
  TAMIS_TRY_STATUS(reader.skip(1, "zero"));
  TAMIS_TRY(const auto length, reader.read_le<std::uint32_t>("length"));
  if (length != kCurrentBytes) return reader.corruption(fmt::format("{} bytes, {} expected", length, kCurrentBytes));
  return check_features(reader, name);
}

}  // namespace

CurrentBytes encode_current(const Current& current) {
  std::string raw(kCurrentMagic);
  append_le(raw, kCurrentVersion);
  append_le(raw, kCurrentFileKind);
  append_le(raw, std::uint8_t{0});
  append_le(raw, static_cast<std::uint32_t>(kCurrentBytes));
  append_le(raw, std::uint64_t{0});  // Required features.
  append_le(raw, std::uint64_t{0});  // Optional features.
  raw.append(as_text(current.store_id));
  append_le(raw, current.manifest_number);
  append_le(raw, current.manifest_salt);
  append_le(raw, current.manifest_durable_bytes);
  append_le(raw, current.journal_end.number);
  append_le(raw, current.journal_end.salt);
  append_le(raw, current.journal_end.durable_bytes);
  CurrentBytes bytes = {};
  std::ranges::copy(as_bytes(raw), bytes.begin());
  store_le(bytes.data() + kChecksumAt, checksum64(Bytes(bytes).first(kChecksumAt)));
  return bytes;
}

Result<Current> decode_current(Bytes bytes, std::string_view name) {
  ByteReader reader(bytes, name);
  TAMIS_TRY_STATUS(check_whole(bytes, reader));
  TAMIS_TRY_STATUS(check_preamble(reader, name));
  if (bytes.size() != kCurrentBytes) {
    return reader.corruption(fmt::format("{} bytes are too many, {} expected", bytes.size(), kCurrentBytes));
  }
  Current current;
  TAMIS_TRY(const Bytes store_id, reader.read(current.store_id.size(), "store id"));
  std::ranges::copy(store_id, current.store_id.begin());
  TAMIS_TRY(current.manifest_number, reader.read_le<std::uint64_t>("manifest number"));
  TAMIS_TRY(current.manifest_salt, reader.read_le<std::uint64_t>("manifest salt"));
  TAMIS_TRY(current.manifest_durable_bytes, reader.read_le<std::uint64_t>("manifest length"));
  TAMIS_TRY(current.journal_end.number, reader.read_le<std::uint64_t>("journal number"));
  TAMIS_TRY(current.journal_end.salt, reader.read_le<std::uint64_t>("journal salt"));
  TAMIS_TRY(current.journal_end.durable_bytes, reader.read_le<std::uint64_t>("journal length"));
  return current;
}

}  // namespace tamis
