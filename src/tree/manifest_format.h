// The bytes of a manifest's records. Documented with hex in docs/FORMAT.md; frozen by tests/golden/manifest.
//
// A manifest is a journal of kind 2 (journal_format.h); each of its records is one edit:
//
//     varint   keyspace, 0
//   then fields until the payload ends
//     varint   tag: 2 × number, plus 1 when a reader that does not know the number must refuse the file
//     varint   bytes of the field
//     –        the field
//
//     number  field
//          1  name of the order of keys: "bytewise"
//          2  store id, 16 bytes
//          3  key of the store's hash, 16 bytes
//          4  flushed sequence, varint
//          5  first journal, varint
//          6  reserved numbers, varint
//          7  a table that is removed: its number, varint             any number of times
//          8  a table that is added: level and run, varints; facts     any number of times
//
// Fields 1 to 3 are in the first record and in no other. The first record is the edit that turns an empty state into
// the whole state.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "table/table_format.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// The only order so far, by its name on disk.
inline constexpr std::string_view kOrderName = "bytewise";

/// One record. The first has the identity, together with the order's name.
struct ManifestRecord {
  std::optional<TableIdentity> identity = {};
  ManifestEdit edit = {};
};

std::string encode_manifest_record(const ManifestRecord& record);
/// kNotSupported, naming it, for a field, keyspace or order that this build must understand and does not; kCorruption
/// for invalid bytes. with_edit checks whether the edit fits the state.
Result<ManifestRecord> decode_manifest_record(Bytes payload, std::string_view name);

}  // namespace tamis
