#include "journal/journal_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/file_header_format.h"
#include "base/hash.h"
#include "base/try.h"

namespace tamis {
namespace {

constexpr FileHeaderFormat kHeaderFormat = {kJournalMagic, "journal", kJournalVersion, kJournalHeaderBytes};
constexpr std::uint64_t kUnknownDistance = std::numeric_limits<std::uint32_t>::max();

// Offsets of a record's fields.
constexpr std::size_t kMarkAt = 8;
constexpr std::size_t kKindAt = 10;
constexpr std::size_t kLengthAt = 11;
constexpr std::size_t kSequenceAt = 16;
constexpr std::size_t kCountAt = 24;
constexpr std::size_t kDistanceAt = 28;
constexpr std::size_t kTimeAt = 32;  // Six bytes; the term's two are the upper ones of the same eight.

/// The commit time and the journal's term in one number.
std::uint64_t time_and_term(std::uint64_t commit_time, const JournalHeader& journal) {
  return commit_time | journal.term << 48;
}

/// H: the record's fields at this offset in this use of the file.
std::uint64_t hash_fields(std::span<const std::byte, kRecordHeaderBytes> bytes, std::uint64_t salt,
                          std::uint64_t offset) {
  return seeded_checksum64(bytes.subspan<kKindAt>(), salt + offset);
}

bool fields_hold_together(const RecordHeader& header) {
  if (header.first_sequence > std::numeric_limits<std::uint64_t>::max() - header.count) return false;
  switch (header.kind) {
    case RecordKind::kData: return header.count > 0;
    case RecordKind::kClosed:
    case RecordKind::kReopened: return header.count == 0 && header.payload_bytes == 0;
    case RecordKind::kTables: break;
  }
  return header.kind != RecordKind{};  // Whoever made the kind knows.
}

}  // namespace

JournalHeaderPage encode_journal_header(const JournalHeader& header) {
  std::string raw;
  append_file_header(raw, kHeaderFormat, {.kind = static_cast<std::uint8_t>(header.kind), .features = header.features});
  raw.append(as_text(header.store_id));
  append_le(raw, header.number);
  append_le(raw, header.salt);
  append_le(raw, header.first_sequence);
  append_le(raw, header.term);
  return sealed_file_header<kJournalHeaderBytes>(raw);
}

Result<JournalHeader> decode_journal_header(Bytes page, std::string_view name) {
  TAMIS_TRY(FileHeaderFields start, read_file_header(page, kHeaderFormat, name));
  ByteReader& reader = start.fields;
  const std::uint8_t kind = start.header.kind;
  if (kind != 1 && kind != 2) return reader.corruption(fmt::format("unknown file kind {}", kind));
  JournalHeader header;
  header.kind = static_cast<JournalKind>(kind);
  header.features = start.header.features;
  TAMIS_TRY(const Bytes store_id, reader.read(header.store_id.size(), "store id"));
  std::ranges::copy(store_id, header.store_id.begin());
  TAMIS_TRY(header.number, reader.read_le<std::uint64_t>("journal number"));
  TAMIS_TRY(header.salt, reader.read_le<std::uint64_t>("salt"));
  TAMIS_TRY(header.first_sequence, reader.read_le<std::uint64_t>("first sequence"));
  TAMIS_TRY(header.term, reader.read_le<std::uint64_t>("term"));
  return header;
}

RecordHeaderBytes encode_record_header(const RecordHeader& header, Bytes payload, const JournalHeader& journal,
                                       std::uint64_t offset) {
  TAMIS_CHECK(header.payload_bytes == payload.size() && payload.size() <= kMaxPayload);
  TAMIS_CHECK(header.durable_offset >= kJournalHeaderBytes && header.durable_offset <= offset);
  TAMIS_CHECK(fields_hold_together(header));
  RecordHeaderBytes bytes;
  // The length has five bytes: eight are written, and the next fields overwrite the upper three, which are zero.
  store_le(bytes.data() + kLengthAt, header.payload_bytes);
  bytes[kKindAt] = static_cast<std::byte>(header.kind);
  store_le(bytes.data() + kSequenceAt, header.first_sequence);
  store_le(bytes.data() + kCountAt, header.count);
  const std::uint64_t distance = std::min(offset - header.durable_offset, kUnknownDistance);
  store_le(bytes.data() + kDistanceAt, static_cast<std::uint32_t>(distance));
  store_le(bytes.data() + kTimeAt, time_and_term(std::min(header.commit_time, kMaxCommitTime), journal));
  const std::uint64_t fields = hash_fields(bytes, journal.salt, offset);
  store_le(bytes.data() + kMarkAt, static_cast<std::uint16_t>(fields));
  store_le(bytes.data(), seeded_checksum64(payload, fields));
  return bytes;
}

bool RecordCandidate::matches(Bytes payload) const {
  return seeded_checksum64(payload, payload_seed) == payload_checksum;
}

std::optional<RecordCandidate> decode_record_header(std::span<const std::byte, kRecordHeaderBytes> bytes,
                                                    const JournalHeader& journal, std::uint64_t offset,
                                                    std::uint64_t room) {
  RecordCandidate candidate;
  RecordHeader& header = candidate.header;
  header.kind = static_cast<RecordKind>(bytes[kKindAt]);
  header.payload_bytes = load_le<std::uint64_t>(bytes.data() + kKindAt) >> 8 & kMaxPayload;
  header.first_sequence = load_le<std::uint64_t>(bytes.data() + kSequenceAt);
  header.count = load_le<std::uint32_t>(bytes.data() + kCountAt);
  const std::uint64_t distance = load_le<std::uint32_t>(bytes.data() + kDistanceAt);
  if (header.payload_bytes > room || !fields_hold_together(header)) return std::nullopt;
  header.commit_time = load_le<std::uint64_t>(bytes.data() + kTimeAt) & kMaxCommitTime;
  if (load_le<std::uint64_t>(bytes.data() + kTimeAt) != time_and_term(header.commit_time, journal)) return std::nullopt;
  if (offset < kJournalHeaderBytes) return std::nullopt;
  if (distance == kUnknownDistance) {
    header.durable_offset = kJournalHeaderBytes;
  } else if (distance <= offset - kJournalHeaderBytes) {
    header.durable_offset = offset - distance;
  } else {
    return std::nullopt;
  }
  candidate.payload_seed = hash_fields(bytes, journal.salt, offset);
  if (load_le<std::uint16_t>(bytes.data() + kMarkAt) != static_cast<std::uint16_t>(candidate.payload_seed)) {
    return std::nullopt;
  }
  candidate.payload_checksum = load_le<std::uint64_t>(bytes.data());
  return candidate;
}

std::size_t find_record_header(Bytes bytes, const JournalHeader& journal, std::uint64_t offset,
                               std::uint64_t file_bytes) {
  constexpr auto kFirstKind = static_cast<unsigned>(RecordKind::kData);
  constexpr unsigned kLastKind = 15;
  for (std::size_t i = 0; i + kRecordHeaderBytes <= bytes.size(); ++i) {
    // Most bytes are no record kind: zeros, text. Zeros follow the end of a preallocated file.
    if (load_le<std::uint64_t>(bytes.data() + i + kKindAt) == 0) {
      i += sizeof(std::uint64_t) - 1;
      continue;
    }
    if (static_cast<unsigned>(bytes[i + kKindAt]) - kFirstKind > kLastKind - kFirstKind) continue;
    const std::uint64_t room = file_bytes - (offset + i) - kRecordHeaderBytes;
    if (decode_record_header(bytes.subspan(i).first<kRecordHeaderBytes>(), journal, offset + i, room)) return i;
  }
  return bytes.size();
}

}  // namespace tamis
