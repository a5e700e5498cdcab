// manifest_format: any bytes are an edit or an error; one that decodes survives re-encoding, and applies to an empty
// state or is refused. Records have no checksum of their own: the journal's covers them.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "tree/manifest_format.h"

namespace {

using namespace tamis;

/// One whole edit reproduces the state that the edit makes.
void apply(const ManifestRecord& record) {
  ManifestState state;
  if (!apply_edit(state, record.edit).ok()) return;
  TAMIS_CHECK(check_state(state).ok());
  const std::string whole = encode_manifest_record({state.identity, whole_edit(state)});
  const Result<ManifestRecord> again = decode_manifest_record(as_bytes(whole), "whole");
  TAMIS_CHECK(again.ok() && again->identity.has_value());
  ManifestState made;
  TAMIS_CHECK(apply_edit(made, again->edit).ok());
  TAMIS_CHECK(encode_manifest_record({made.identity, whole_edit(made)}) == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const Result<ManifestRecord> record = decode_manifest_record(bytes, "input");
  if (!record.ok()) {
    const StatusCode code = record.status().code();
    TAMIS_CHECK(code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
    return 0;
  }
  const std::string again = encode_manifest_record(*record);
  const Result<ManifestRecord> decoded = decode_manifest_record(as_bytes(again), "again");
  TAMIS_CHECK(decoded.ok() && encode_manifest_record(*decoded) == again);
  apply(*record);
  return 0;
}
