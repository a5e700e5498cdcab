// The bytes of a manifest's records. Documented with hex in docs/FORMAT.md; frozen by tests/golden/manifest.
//
// A manifest is a journal of kind 2 (journal_format.h); each of its records is one edit:
//
//     fields of the store
//     byte     zero
//   then one section per keyspace that the edit changes, until the payload ends
//     varint   keyspace id, strictly ascending
//     varint   bytes of the fields
//     fields of the keyspace
//
//   A field:
//     varint   tag: 2 × number, plus 1 when a reader that does not know the number must refuse the file
//     varint   bytes of the value
//     –        the value
//
//     number  of the store                                     number  of a keyspace
//          1  name of the order of keys: "bytewise"                 4  flushed sequence, varint, if above the store's
//          2  store id, 16 bytes                                    7  a table that is removed: its number, varint
//          3  key of the store's hash, 16 bytes                     8  a table that is added: level and run, varints;
//          4  flushed sequence, varint                                 facts
//          5  first journal, varint                                12  name: the keyspace is created
//          6  reserved numbers, varint                             13  options: lines "name=value"
//          9  term, varint
//         10  next keyspace id, varint
//         11  id of a keyspace that is dropped, varint             15  a value file that is added: number, bytes and
//         14  expiry horizon: 8 bytes each of time, boot               time of creation (Unix seconds), varints
//             number and uptime, in milliseconds                   16  a value file that is removed: its number, varint
//
// Fields 7, 8, 11, 15 and 16 may occur any number of times. Fields 1 to 3 are in the first record and in no other. The
// first record is the edit that turns an empty state into the whole state; it creates every keyspace but the default.
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
/// kNotSupported, naming it, for a field or an order that this build must understand and does not; kCorruption for
/// invalid bytes. apply_edit checks whether the edit fits the state.
Result<ManifestRecord> decode_manifest_record(Bytes payload, std::string_view name);

}  // namespace tamis
