// Writing a journal: records appended, synced when asked, closed with a mark.
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

/// A journal to be made.
struct JournalSpec {
  std::string path;      ///< Its name for good; a new file is `path`.tmp on the way there.
  JournalHeader header;  ///< With a salt that no other journal has.
  std::uint64_t preallocate_bytes = 0;
};

/// A file that will be a journal, under a name that says so.
struct TemporaryFile {
  std::string path = {};
  std::unique_ptr<WritableFile> file = nullptr;
};

/// The end of one journal, to which records are added.
///
/// Invariants:
///  1. A file that bears a journal's name has its header, durably: it is written and synced under another name first.
///     A header that cannot be read is therefore damage, never a crash.
///  2. Records follow each other without a gap, in the file and in their sequences; each carries the offset that was
///     known durable when it was written.
///  3. A record whose append failed is overwritten by the next one, and that one is durable before a third follows:
///     otherwise a crash could leave the failed record in the place of its successor, with later ones after it. If the
///     next record goes into another journal, the failed one is durably gone before (withdraw_failed_append).
///  4. After a failed sync nothing works any more: the caller goes on with a new journal, or not at all.
///  5. No sync succeeds before all records of the journals before this one that are needed still are durable.
///
/// Threads: one at a time (the commit leader).
class JournalWriter {
 public:
  /// Takes the file of a journal that nobody needs any more, durably so; its name is durably gone before this returns.
  /// By any thread; nothing is written into the file.
  static Result<TemporaryFile> recycle(FileSystem& files, const std::string& path);
  /// Makes a journal, durable with its name before this returns; in the file given, or in a new one. After an error its
  /// file may be there, without records.
  static Result<std::unique_ptr<JournalWriter>> create(FileSystem& files, const JournalSpec& spec,
                                                       TemporaryFile recycled = {});
  /// Continues a journal that was closed: `end` is what its reader found, with `end.is_closed`. That it is open again
  /// is durable before this returns.
  static Result<std::unique_ptr<JournalWriter>> reopen(FileSystem& files, const std::string& path,
                                                       const JournalHeader& header, const JournalEnd& end);

  /// The file may be longer than its records, and short ones that nobody syncs copied into a window of it, of at most
  /// so many bytes.
  void allow_room_ahead(std::uint64_t most_window_bytes) { file_.allow_room_ahead(most_window_bytes); }

  /// No more records come: what a failed append may have left behind must not stand before those of the next journal.
  /// Costs nothing where no append failed.
  Status withdraw_failed_append();
  /// Takes over from the journal that ends where this one begins and gets no more records; of failed ones, none is
  /// left. They need not be durable yet: this writer keeps the other and syncs it before its own first sync succeeds.
  void follow(std::unique_ptr<JournalWriter> predecessor);
  /// The records of journals with smaller numbers are durable elsewhere: no sync waits for them any more.
  void forget_predecessors_before(std::uint64_t number);

  /// Adds a record of `count` sequences (at least one) that begin with next_sequence(). Nothing is synced: it
  /// survives the process, not the machine. After an error the record may be found later, whole, or not.
  Status append(Bytes payload, std::uint32_t count);
  /// Makes all records so far durable.
  Status sync();
  /// Syncs, marks the end as a clean close, durably, and closes the file. To be called last.
  Status close();

  [[nodiscard]] const JournalHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t next_sequence() const { return next_sequence_; }
  /// Where the next record goes.
  [[nodiscard]] std::uint64_t end_offset() const { return file_.end(); }
  /// What its window takes of memory.
  [[nodiscard]] std::uint64_t window_bytes() const { return file_.window_bytes(); }
  /// Success, or the failure after which nothing works any more: of a sync, or of a file that was cut short.
  [[nodiscard]] const Status& status() const { return status_; }
  /// Everything before this offset is durable.
  [[nodiscard]] std::uint64_t durable_offset() const { return file_.durable_end(); }

 private:
  JournalWriter(AppendFile file, const JournalHeader& header, std::uint64_t next_sequence)
      : file_(std::move(file)), header_(header), next_sequence_(next_sequence) {}

  Status append_record(RecordKind kind, Bytes payload, std::uint32_t count);
  Status write_record(RecordKind kind, Bytes payload, std::uint32_t count);
  Status sync_predecessor();

  AppendFile file_;
  JournalHeader header_;
  std::uint64_t next_sequence_;
  std::unique_ptr<JournalWriter> predecessor_;  // Until it is durable.
  bool overwrites_failed_append_ = false;       // The next record does.
  Status status_;                               // The failure, of this journal or of its predecessor.
};

}  // namespace tamis
