#include "tree/current_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/file_header_format.h"
#include "base/try.h"

namespace tamis {
namespace {

constexpr FileHeaderFormat kHeaderFormat = {kCurrentMagic, "CURRENT", kCurrentVersion, kCurrentBytes};

}  // namespace

CurrentBytes encode_current(const Current& current) {
  std::string raw;
  append_file_header(raw, kHeaderFormat, {.kind = kCurrentFileKind, .features = current.features});
  raw.append(as_text(current.store_id));
  append_le(raw, current.manifest_number);
  append_le(raw, current.manifest_salt);
  append_le(raw, current.manifest_durable_bytes);
  append_le(raw, current.journal_end.number);
  append_le(raw, current.journal_end.salt);
  append_le(raw, current.journal_end.durable_bytes);
  append_le(raw, current.term);
  return sealed_file_header<kCurrentBytes>(raw);
}

Result<Current> decode_current(Bytes bytes, std::string_view name) {
  TAMIS_TRY(FileHeaderFields start, read_file_header(bytes, kHeaderFormat, name));
  ByteReader& reader = start.fields;
  if (start.header.kind != kCurrentFileKind) {
    return reader.corruption(fmt::format("unknown file kind {}", start.header.kind));
  }
  if (bytes.size() != kCurrentBytes) {
    return reader.corruption(fmt::format("{} bytes are too many, {} expected", bytes.size(), kCurrentBytes));
  }
  Current current;
  current.features = start.header.features;
  TAMIS_TRY(const Bytes store_id, reader.read(current.store_id.size(), "store id"));
  std::ranges::copy(store_id, current.store_id.begin());
  TAMIS_TRY(current.manifest_number, reader.read_le<std::uint64_t>("manifest number"));
  TAMIS_TRY(current.manifest_salt, reader.read_le<std::uint64_t>("manifest salt"));
  TAMIS_TRY(current.manifest_durable_bytes, reader.read_le<std::uint64_t>("manifest length"));
  TAMIS_TRY(current.journal_end.number, reader.read_le<std::uint64_t>("journal number"));
  TAMIS_TRY(current.journal_end.salt, reader.read_le<std::uint64_t>("journal salt"));
  TAMIS_TRY(current.journal_end.durable_bytes, reader.read_le<std::uint64_t>("journal length"));
  TAMIS_TRY(current.term, reader.read_le<std::uint64_t>("term"));
  return current;
}

}  // namespace tamis
