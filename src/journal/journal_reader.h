// Reading a journal, and distinguishing a torn tail from damage.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "io/file_system.h"
#include "io/read_window.h"
#include "journal/journal_format.h"
#include "tamis/status.h"

namespace tamis {

/// One record; the payload is valid until the reader's next call.
struct JournalRecord {
  std::uint64_t offset = 0;
  std::uint64_t first_sequence = 0;
  std::uint32_t count = 0;
  std::uint64_t commit_time = 0;  ///< Milliseconds since 1970.
  Bytes payload;
};

/// Where and how a journal's records end.
struct JournalEnd {
  std::uint64_t offset = 0;         ///< After the last valid record.
  std::uint64_t next_sequence = 0;  ///< The sequence after its last.
  bool is_closed = false;           ///< It ends with a clean close and may be continued.
  /// Valid records exist beyond the end, after a region that never reached the disk. They are not part of the journal;
  /// whoever drops the file saves its bytes first.
  bool has_stranded_records = false;
  /// Some sync of this journal succeeded, so every journal before it was durable.
  bool was_synced = false;
};

/// Iterates over the records of one journal.
///
///     while (true) {
///       TAMIS_TRY(const std::optional<JournalRecord> record, reader.next());
///       if (!record) break;
///       replay(record->payload);
///     }
///     reader.end();
///
/// Invariants:
///  1. Only records with a verified checksum are returned, in append order, without gaps.
///  2. The journal ends at the first position without a valid record, unless a record beyond it, or the caller, proves
///     that the position was once durable: then it is damage, kCorruption with file and offset.
///  3. A valid record of a kind that this build does not know is kNotSupported: neither the end nor damage.
///  4. Nothing is written.
///
/// Threads: one at a time.
class JournalReader {
 public:
  /// `known_durable_offset`: how far the journal is known to be durable from other sources, e.g. the clean close that
  /// CURRENT recorded. 0: unknown.
  static Result<JournalReader> open(FileSystem& files, const std::string& path, std::uint64_t known_durable_offset = 0);

  [[nodiscard]] const JournalHeader& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Sets the known durable offset, as in open().
  void was_durable_to(std::uint64_t offset) { known_durable_offset_ = offset; }
  /// The next record, or none at the end.
  Result<std::optional<JournalRecord>> next();
  /// As next(), for a journal that may still be written to: none if no valid record follows yet, whatever is there
  /// (rule 42). A later call looks again.
  Result<std::optional<JournalRecord>> next_so_far();
  /// Whether the file still begins with this journal's header, and the last record that was returned is still there.
  /// Journals are recycled, and a record whose append failed is overwritten.
  [[nodiscard]] Result<bool> is_unchanged() const;
  /// After the last record that was read, and the sequence that is due there.
  [[nodiscard]] std::uint64_t offset() const { return end_.offset; }
  [[nodiscard]] std::uint64_t next_sequence() const { return end_.next_sequence; }
  /// After next() returned kCorruption: skips to the first valid record beyond the damage, which next() then returns;
  /// false if there is none. For repair, which salvages what it can.
  Result<bool> skip_damage();
  /// Skips to the end, ignoring payloads.
  Status skip_to_end();
  /// Precondition: next() returned none.
  [[nodiscard]] const JournalEnd& end() const;

 private:
  /// A valid record of any kind.
  struct Found {
    RecordHeader header;
    std::uint64_t payload_checksum = 0;
    Bytes payload;
  };
  /// What the bytes beyond the end show.
  struct Beyond {
    bool has_records = false;
    std::uint64_t durable_offset = 0;  // The max named by a valid record, and that record's offset.
    std::uint64_t witness_offset = 0;
  };

  JournalReader(ReadWindow window, std::string path, const JournalHeader& header, std::uint64_t known_durable_offset);

  Result<std::optional<Found>> read_record(std::uint64_t offset);
  /// Goes past a record that was read; none if it has no data.
  Result<std::optional<JournalRecord>> pass(const Found& found);
  Status check_kind(const RecordHeader& record) const;
  Status check_order(const RecordHeader& record) const;
  Status finish();
  Result<Beyond> search_beyond(std::uint64_t offset);
  /// The offset of the next bytes that could be a record, or the end of the file.
  Result<std::uint64_t> find_candidate(std::uint64_t offset);

  ReadWindow window_;
  std::string path_;
  JournalHeader header_;
  std::uint64_t known_durable_offset_;
  JournalEnd end_;  // So far.
  struct Last {
    RecordHeader header;
    std::uint64_t payload_checksum = 0;
  };
  std::optional<Last> last_;  // The record before it.
  bool is_finished_ = false;
};

}  // namespace tamis
