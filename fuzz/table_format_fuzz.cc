// table_format (with table_facts_format and tagged_field_format): any bytes are properties, facts, a header or a
// footer, or an error; what decodes survives re-encoding. Checksums are repaired first.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "table/table_format.h"

namespace tamis {
namespace {

void expect_refusal(const Status& status) {
  TAMIS_CHECK(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported);
}

/// NaN equals nothing, so compare as bytes.
std::string encoded(const TableFacts& facts) {
  std::string bytes;
  append_facts(bytes, facts);
  return bytes;
}

void look_at_properties(Bytes bytes, std::uint64_t offset) {
  const Result<TableProperties> properties = decode_properties(bytes, offset, "input");
  if (!properties.ok()) return expect_refusal(properties.status());
  const std::string again = encode_properties(*properties);
  const Result<TableProperties> decoded = decode_properties(as_bytes(again), offset, "again");
  TAMIS_CHECK(decoded.ok() && *decoded == *properties);
  TAMIS_CHECK(properties->index.end() == offset);
}

void look_at_facts(Bytes bytes) {
  ByteReader reader(bytes, "input");
  const Result<TableFacts> facts = decode_facts(reader);
  if (!facts.ok()) return expect_refusal(facts.status());
  const std::string again = encoded(*facts);
  ByteReader second(as_bytes(again), "again");
  TAMIS_CHECK(encoded(*decode_facts(second)) == again && second.at_end());
}

void look_at_header(std::string bytes) {
  bytes.resize(kTableHeaderBytes - 8);
  bytes.replace(0, kTableMagic.size(), kTableMagic);
  append_le(bytes, checksum64(as_bytes(bytes)));
  const Result<TableHeader> header = decode_table_header(as_bytes(bytes), "input");
  if (!header.ok()) return expect_refusal(header.status());
  TAMIS_CHECK(*decode_table_header(encode_table_header(*header), "again") == *header);
}

void look_at_footer(std::string bytes) {
  bytes.resize(24);
  bytes += kTableEndMagic;
  for (const std::uint64_t file_bytes : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{5000}}) {
    const Result<Section> section = decode_footer(as_bytes(bytes), file_bytes, "input");
    if (!section.ok()) {
      expect_refusal(section.status());
    } else {
      TAMIS_CHECK(section->end() + kTableFooterBytes == file_bytes);
    }
  }
}

}  // namespace
}  // namespace tamis

/// The first two bytes say where properties would begin.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  if (size < 2) return 0;
  const Bytes bytes = std::as_bytes(std::span(data, size));
  look_at_properties(bytes.subspan(2), load_le<std::uint16_t>(data));
  look_at_facts(bytes);
  look_at_facts(bytes.subspan(2));
  look_at_header(std::string(as_text(bytes)));
  look_at_footer(std::string(as_text(bytes)));
  return 0;
}
