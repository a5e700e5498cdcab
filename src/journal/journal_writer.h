// Writing a journal: append records, sync on request, mark a clean close.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "io/append_file.h"
#include "io/file_system.h"
#include "journal/journal_format.h"
#include "journal/journal_reader.h"
#include "tamis/status.h"

namespace tamis {

/// A journal to create.
struct JournalSpec {
  std::string path;      ///< Its final name; a new file is `path`.tmp until then.
  JournalHeader header;  ///< With a salt unique to this journal.
  std::uint64_t preallocate_bytes = 0;
};

/// A file that will become a journal, under a temporary name.
struct TemporaryFile {
  std::string path = {};
  std::unique_ptr<WritableFile> file = nullptr;
};

/// Appends records to the end of one journal.
///
/// Invariants:
///  1. A file with a journal's name durably has its header, which is written and synced under another name first. An
///     unreadable header is therefore damage, never the result of a crash.
///  2. Records follow each other without gaps, in the file and in their sequences. Each carries the offset known to be
///     durable when it was written.
///  3. A record whose append failed is overwritten by the next one, which is durable before a third follows. Otherwise
///     a crash could leave the failed record in place of its successor, with later ones after it. If the next record
///     goes to another journal, the failed one is durably removed first (withdraw_failed_append).
///  4. After a failed sync, every call fails: the caller continues with a new journal, or not at all.
///  5. No sync succeeds before all records still needed from earlier journals are durable.
///
/// Threads: one at a time (the commit leader).
class JournalWriter {
 public:
  /// Takes the file of a journal that is durably no longer needed. Its name is durably removed before this returns. Any
  /// thread; does not write to the file.
  static Result<TemporaryFile> recycle(FileSystem& files, const std::string& path);
  /// Creates a journal, durable with its name before this returns, in the given file or in a new one. After an error
  /// its file may exist, without records.
  static Result<std::unique_ptr<JournalWriter>> create(FileSystem& files, const JournalSpec& spec,
                                                       TemporaryFile recycled = {});
  /// Continues a closed journal: `end` comes from its reader, with `end.is_closed`. The reopening is durable before
  /// this returns.
  static Result<std::unique_ptr<JournalWriter>> reopen(FileSystem& files, const std::string& path,
                                                       const JournalHeader& header, const JournalEnd& end);

  /// Allows the file to be longer than its records, and short unsynced records to be copied into a mapped window of at
  /// most this many bytes.
  void allow_room_ahead(std::uint64_t most_window_bytes) { file_.allow_room_ahead(most_window_bytes); }
  /// From now on the window has at most this size.
  void limit_window(std::uint64_t most_window_bytes) { file_.limit_window(most_window_bytes); }

  /// No more records follow: what a failed append may have left must not precede the records of the next journal. Costs
  /// nothing if no append failed.
  Status withdraw_failed_append();
  /// Follows the journal that ends where this one begins, which gets no more records and has no failed ones left. Its
  /// records need not be durable yet: this writer keeps it and syncs it before its own first sync succeeds.
  void follow(std::unique_ptr<JournalWriter> predecessor);
  /// The records of journals with smaller numbers are durable elsewhere: syncs no longer wait for them.
  void forget_predecessors_before(std::uint64_t number);

  /// Appends a record of `count` sequences (at least one) from next_sequence() on. `commit_time` is in milliseconds
  /// since 1970; 0: not known. Does not sync: the record survives
  /// the process, not the machine. After an error, the record may be found later, whole, or not at all.
  Status append(Bytes payload, std::uint32_t count, std::uint64_t commit_time = 0);
  /// Makes all records so far durable.
  Status sync();
  /// Syncs, durably marks a clean close, and closes the file. Must be the last call.
  Status close();

  [[nodiscard]] const JournalHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
  /// The offset of the next record.
  [[nodiscard]] std::uint64_t end_offset() const { return file_.end(); }
  /// The memory used by its window.
  [[nodiscard]] std::uint64_t window_bytes() const { return file_.window_bytes(); }
  /// Success, or the error after which every call fails: a failed sync, or a truncated file.
  [[nodiscard]] const Status& status() const { return status_; }
  /// Everything before this offset is durable.
  [[nodiscard]] std::uint64_t durable_offset() const { return file_.durable_end(); }

 private:
  JournalWriter(AppendFile file, const JournalHeader& header, std::uint64_t next_sequence)
      : file_(std::move(file)), header_(header), next_sequence_(next_sequence) {}

  Status append_record(RecordHeader&& record, Bytes payload);
  Status write_record(RecordHeader& record, Bytes payload);
  Status sync_predecessor();

  AppendFile file_;
  JournalHeader header_;
  std::uint64_t next_sequence_;
  std::unique_ptr<JournalWriter> predecessor_;  // Until it is durable.
  bool overwrites_failed_append_ = false;       // The next append does.
  Status status_;                               // The error, of this journal or its predecessor.
};

}  // namespace tamis
