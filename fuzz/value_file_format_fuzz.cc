// value_file_format: any bytes are a pointer or a header, or an error; what decodes survives re-encoding. The checksum
// of the header is repaired first.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "table/value_file_format.h"

namespace tamis {
namespace {

void expect_refusal(const Status& status) {
  TAMIS_CHECK(status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotSupported);
}

void look_at_pointer(std::string_view bytes) {
  const Result<ValuePointer> pointer = decode_value_pointer(bytes, "input");
  if (!pointer.ok()) return expect_refusal(pointer.status());
  TAMIS_CHECK(*decode_value_pointer(encode_value_pointer(*pointer), "again") == *pointer);
  TAMIS_CHECK(pointer->offset + pointer->stored_bytes >= pointer->offset);
}

void look_at_header(std::string bytes) {
  bytes.resize(kValueFileHeaderBytes - 8);
  bytes.replace(0, kValueFileMagic.size(), kValueFileMagic);
  append_le(bytes, checksum64(as_bytes(bytes)));
  const Result<ValueFileHeader> header = decode_value_file_header(as_bytes(bytes), "input");
  if (!header.ok()) return expect_refusal(header.status());
  TAMIS_CHECK(*decode_value_file_header(encode_value_file_header(*header), "again") == *header);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tamis::look_at_pointer(bytes);
  tamis::look_at_header(std::string(bytes));
  return 0;
}
