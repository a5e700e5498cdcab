// The layout of a journal. Documented with hex in docs/FORMAT.md; frozen by tests/golden/journal.
//
// A header page of 4096 bytes, then records without gaps. The file may be longer than its records: the rest is zero, or
// left over from an earlier use of the file.
//
//     header                                              record, at offset o
//     offset size                                         offset size
//          0    8  magic "TAMISJNL"                            0    8  XXH3-64 of the payload, seeded with H
//          8    2  version, 2                                  8    2  low 16 bits of H
//         10    1  file kind: 1 writes, 2 manifest            10    1  kind: 1 data, 2 closed, 3 reopened, 4 tables
//         11    1  zero                                       11    5  payload bytes, n
//         12    4  header bytes, 4096                         16    8  first sequence
//         16    4  features needed to read                    24    4  count of sequences
//         20    4  features needed to write                   28    4  distance: o minus the offset known durable;
//         24    8  optional features                                   2^32 - 1: as large or larger, claims nothing
//         32   16  store id                                   32    6  commit time, milliseconds since 1970
//         48    8  journal number                             38    2  low 16 bits of the term
//         56    8  salt, random, new at each use              40    n  payload
//         64    8  first sequence
//         72    8  term                                   H = XXH3-64 of bytes 10 … 39, seeded with salt + o
//         80 4008  zero
//       4088    8  XXH3-64 of bytes 0 … 4087
//
// All numbers are little-endian. H binds a record to this use of this file and to its offset; the checksum binds the
// payload to all fields of the record through H. So nothing else can pass for this record: no record from an earlier
// use of the file, none copied from elsewhere, no payload that looks like a record.
//
// Kinds above 15 will not be given, so that a search for records can pass over most bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/features.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::string_view kJournalMagic = "TAMISJNL";
inline constexpr std::uint16_t kJournalVersion = 2;
inline constexpr std::size_t kJournalHeaderBytes = 4096;
inline constexpr std::size_t kRecordHeaderBytes = 40;
inline constexpr std::uint64_t kMaxPayload = (std::uint64_t{1} << 40) - 1;
inline constexpr std::uint64_t kMaxCommitTime = (std::uint64_t{1} << 48) - 1;

/// Numbers on disk, never reused.
enum class JournalKind : std::uint8_t { kWrites = 1, kManifest = 2 };
enum class RecordKind : std::uint8_t {
  kData = 1,
  kClosed = 2,    ///< A clean close: everything before it was durable when it was written.
  kReopened = 3,  ///< Directly after kClosed, durable before anything else follows: cancels the close.
  kTables = 4,    ///< Reserved: a commit whose entries are in tables (Feature::kCommitsInTables).
};

using StoreId = std::array<std::byte, 16>;

/// A journal's identity. Its file name also has the number; if the two differ, someone put the file there.
struct JournalHeader {
  JournalKind kind = JournalKind::kWrites;
  StoreId store_id = {};
  std::uint64_t number = 0;
  std::uint64_t salt = 0;            ///< Random, new each time a file becomes a journal.
  std::uint64_t first_sequence = 0;  ///< The first sequence of its first record.
  std::uint64_t term = 0;            ///< Of the store when the journal was begun (rule 42).
  Features features = {};            ///< What its records need.

  bool operator==(const JournalHeader&) const = default;
};

using JournalHeaderPage = std::array<std::byte, kJournalHeaderBytes>;
JournalHeaderPage encode_journal_header(const JournalHeader& header);
/// kCorruption for bad bytes; kNotSupported for a sound header of another version or with an unknown feature.
Result<JournalHeader> decode_journal_header(Bytes page, std::string_view name);

/// The fields of a record besides its payload.
struct RecordHeader {
  RecordKind kind = RecordKind::kData;
  std::uint64_t payload_bytes = 0;
  std::uint64_t first_sequence = 0;
  std::uint32_t count = 0;
  /// Bytes of the file before this offset were durable when the record was written. It may understate what was known,
  /// never overstate it.
  std::uint64_t durable_offset = 0;
  std::uint64_t commit_time = 0;  ///< Milliseconds since 1970, by the writer's clock; at most kMaxCommitTime.

  bool operator==(const RecordHeader&) const = default;
};

using RecordHeaderBytes = std::array<std::byte, kRecordHeaderBytes>;
/// `offset` is the record's offset in its file; the header's payload_bytes must be the payload's length.
RecordHeaderBytes encode_record_header(const RecordHeader& header, Bytes payload, const JournalHeader& journal,
                                       std::uint64_t offset);

/// A record header whose fields are consistent; only the payload's checksum proves that it is a record.
struct RecordCandidate {
  RecordHeader header;
  std::uint64_t payload_seed = 0;
  std::uint64_t payload_checksum = 0;

  [[nodiscard]] bool matches(Bytes payload) const;
};

/// Nothing if these bytes cannot be the header of a record of this journal at this offset with at most `room` bytes of
/// payload. Of bytes made without the salt, one in 65,536 passes, so a search over a damaged file does not hash it
/// again and again. The kind may be one that this build does not know.
std::optional<RecordCandidate> decode_record_header(std::span<const std::byte, kRecordHeaderBytes> bytes,
                                                    const JournalHeader& journal, std::uint64_t offset,
                                                    std::uint64_t room);

/// The first position in these bytes, which begin at `offset` of a file of `file_bytes`, where a record could begin;
/// bytes.size() if there is none. Skips positions with less than a record header of bytes left.
std::size_t find_record_header(Bytes bytes, const JournalHeader& journal, std::uint64_t offset,
                               std::uint64_t file_bytes);

}  // namespace tamis
