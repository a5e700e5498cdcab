// journal_format: any bytes are a journal or an error; whatever a reader returns lies in the file and is dense.
// Checksums are repaired first, so that mutations get past them.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "io/memory_file_system.h"
#include "journal/journal_format.h"
#include "journal/journal_reader.h"

namespace tamis {
namespace {

constexpr JournalHeader kHeader = {.salt = 7, .term = 0x1'0002};
constexpr std::size_t kRepairedRecords = 64;

/// An input holds only the records: the header page would be four fifths of it. Its first byte says where a hole goes.
std::string journal_of(std::string_view records) {
  const JournalHeaderPage page = encode_journal_header(kHeader);
  return std::string(as_text(page)) + std::string(records);
}

/// Turns the fields in the bytes into a chain of valid records.
void repair(std::string& file) {
  std::uint64_t offset = kJournalHeaderBytes;
  std::uint64_t sequence = 0;
  for (std::size_t i = 0; i < kRepairedRecords && offset + kRecordHeaderBytes <= file.size(); ++i) {
    char* record = file.data() + offset;
    const std::uint64_t room = file.size() - offset - kRecordHeaderBytes;
    RecordHeader header;
    header.kind = static_cast<RecordKind>(1 + static_cast<std::uint8_t>(record[10]) % 5);  // One of them is unknown.
    if (header.kind != RecordKind::kClosed && header.kind != RecordKind::kReopened) {
      header.payload_bytes = std::min<std::uint64_t>(load_le<std::uint16_t>(record + 11) % 512, room);
      header.count = 1 + static_cast<std::uint8_t>(record[24]);
    }
    header.first_sequence = sequence;
    header.commit_time = load_le<std::uint32_t>(record + 32);
    const std::uint64_t distance = load_le<std::uint16_t>(record + 28);
    header.durable_offset = offset - std::min(distance, offset - kJournalHeaderBytes);
    const Bytes payload = as_bytes(std::string_view(record + kRecordHeaderBytes, header.payload_bytes));
    const RecordHeaderBytes bytes = encode_record_header(header, payload, kHeader, offset);
    std::ranges::copy(as_text(bytes), record);
    sequence += header.count;
    offset += kRecordHeaderBytes + header.payload_bytes;
  }
}

void read(const std::string& bytes) {
  MemoryFileSystem files;
  const auto file = *files.open_writable("/journal", OpenMode::kCreate);
  const Bytes whole = as_bytes(bytes);
  TAMIS_CHECK(file->write_at(0, std::span(&whole, 1)).ok());
  Result<JournalReader> reader = JournalReader::open(files, "/journal");
  if (!reader.ok()) return;
  std::uint64_t due = reader->header().first_sequence;
  for (;;) {
    const Result<std::optional<JournalRecord>> record = reader->next();
    if (!record.ok()) return;
    if (!record->has_value()) break;
    TAMIS_CHECK((*record)->first_sequence == due);
    TAMIS_CHECK((*record)->offset + kRecordHeaderBytes + (*record)->payload.size() <= bytes.size());
    due += (*record)->count;
  }
  TAMIS_CHECK(reader->end().next_sequence == due && reader->end().offset <= bytes.size());
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  read(std::string(input));  // As a whole file.
  std::string file = journal_of(input);
  read(file);
  repair(file);
  read(file);
  if (size > kRecordHeaderBytes) {
    file[kJournalHeaderBytes + static_cast<std::uint8_t>(input[0]) % size] ^= 1;  // A hole in a valid chain.
    read(file);
  }
  return 0;
}
