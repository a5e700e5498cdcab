// The bytes of a journal. Documented with hex in docs/FORMAT.md; frozen by tests/golden/journal.
//
// A header page of 4096 bytes, then records without gaps. The file may be longer than its records: what follows them
// is zero, or left over from an earlier use of the file.
//
//     header                                              record, at offset o
//     offset size                                         offset size
//          0    8  magic "TAMISJNL"                            0    8  XXH3-64 of the payload, seeded with H
//          8    2  version, 1                                  8    2  low 16 bits of H
//         10    1  file kind: 1 writes, 2 manifest            10    1  kind: 1 data, 2 closed, 3 reopened
//         11    1  zero                                       11    5  payload bytes, n
//         12    4  header bytes, 4096                         16    8  first sequence
//         16    8  required features                          24    4  count of sequences
//         24    8  optional features                          28    4  distance: o minus the offset known durable;
//         32   16  store id                                            2^32 - 1: as large or larger, claims nothing
//         48    8  journal number                             32    n  payload
//         56    8  salt, random, new at each use
//         64    8  first sequence                         H = XXH3-64 of bytes 10 … 31, seeded with salt + o
//         72 4016  zero
//       4088    8  XXH3-64 of bytes 0 … 4087
//
// All numbers little-endian. H binds a record to this use of this file and to its place in it; the checksum binds the
// payload to all of the record's fields through H. So nothing that was not written as this record can pass for it:
// not a record of the file's earlier life, not one copied from elsewhere, not a payload that looks like a record.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::string_view kJournalMagic = "TAMISJNL";
inline constexpr std::uint16_t kJournalVersion = 1;
inline constexpr std::size_t kJournalHeaderBytes = 4096;
inline constexpr std::size_t kRecordHeaderBytes = 32;
inline constexpr std::uint64_t kLongestPayload = (std::uint64_t{1} << 40) - 1;

/// Numbers on disk, never reused.
enum class JournalKind : std::uint8_t { kWrites = 1, kManifest = 2 };
enum class RecordKind : std::uint8_t {
  kData = 1,
  kClosed = 2,    ///< A clean close: everything before it was durable when it was written.
  kReopened = 3,  ///< Directly after kClosed, durable before anything else follows: the close no longer counts.
};

using StoreId = std::array<std::byte, 16>;

/// A journal's identity. Its file's name has the number too; where the two differ, somebody else put the file there.
struct JournalHeader {
  JournalKind kind = JournalKind::kWrites;
  StoreId store_id = {};
  std::uint64_t number = 0;
  std::uint64_t salt = 0;            ///< Random, drawn anew each time a file becomes a journal.
  std::uint64_t first_sequence = 0;  ///< Of its first record.

  bool operator==(const JournalHeader&) const = default;
};

using JournalHeaderPage = std::array<std::byte, kJournalHeaderBytes>;
JournalHeaderPage encode_journal_header(const JournalHeader& header);
/// kCorruption for bad bytes; kNotSupported for a sound header of a newer version or with an unknown required feature.
Result<JournalHeader> decode_journal_header(Bytes page, std::string_view name);

/// What a record says besides its payload.
struct RecordHeader {
  RecordKind kind = RecordKind::kData;
  std::uint64_t payload_bytes = 0;
  std::uint64_t first_sequence = 0;
  std::uint32_t count = 0;
  /// Bytes of the file before this offset were durable when the record was written. It may say less than was known,
  /// never more.
  std::uint64_t durable_offset = 0;

  bool operator==(const RecordHeader&) const = default;
};

using RecordHeaderBytes = std::array<std::byte, kRecordHeaderBytes>;
/// `offset` is where the record begins in its file; the header's payload_bytes must be the payload's length.
RecordHeaderBytes encode_record_header(const RecordHeader& header, Bytes payload, std::uint64_t salt,
                                       std::uint64_t offset);

/// A record header whose fields hold together; whether it is a record the payload's checksum tells.
struct RecordCandidate {
  RecordHeader header;
  std::uint64_t payload_seed = 0;
  std::uint64_t payload_checksum = 0;

  [[nodiscard]] bool matches(Bytes payload) const;
};

/// Nothing when these bytes cannot be the header of a record at this offset with at most `room` bytes of payload. Of
/// bytes made up without knowing the salt one in 65,536 gets past this, so that a search over a damaged file
/// does not hash it again and again.
std::optional<RecordCandidate> decode_record_header(std::span<const std::byte, kRecordHeaderBytes> bytes,
                                                    std::uint64_t salt, std::uint64_t offset, std::uint64_t room);

/// The first place in these bytes, which begin at `offset` of a file of `file_bytes`, where a record could begin;
/// bytes.size() when there is none. Places with less than a record header of bytes behind them are not looked at.
std::size_t find_record_header(Bytes bytes, std::uint64_t salt, std::uint64_t offset, std::uint64_t file_bytes);

}  // namespace tamis
