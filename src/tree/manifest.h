// The durable record of which tables make up the store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "journal/journal_format.h"
#include "table/table_format.h"
#include "tamis/status.h"
#include "tree/shape.h"

namespace tamis {

/// Everything the manifest says.
struct ManifestState {
  TableIdentity identity;  ///< Drawn when the store was made.
  Shape shape;
  std::uint64_t flushed_sequence = 0;  ///< All writes up to here are in tables.
  std::uint64_t first_journal = 0;     ///< Journals with smaller numbers are not needed.
  /// Numbers below this one may have been given to a file; a table below it that is not in the shape is redundant.
  std::uint64_t reserved_numbers = 0;
};

/// One durable step.
struct ManifestEdit {
  ShapeEdit shape = {};
  std::optional<std::uint64_t> flushed_sequence = {};
  std::optional<std::uint64_t> first_journal = {};
  std::optional<std::uint64_t> reserved_numbers = {};
};

/// The end of a journal that was closed cleanly, kept in CURRENT so that a file cut short cannot pass for a shorter
/// one. It stays true while that journal exists.
struct KnownJournalEnd {
  std::uint64_t number = 0;  ///< 0: nothing is known.
  std::uint64_t salt = 0;
  std::uint64_t durable_bytes = 0;

  friend bool operator==(const KnownJournalEnd&, const KnownJournalEnd&) = default;
};

/// A journal of edits, named by CURRENT, which also says how far it was durable.
///
/// Invariants:
///  1. An edit that commit returned ok for is durable, and CURRENT knows that it is.
///  2. A manifest that was not closed cleanly is not appended to: the first commit begins a new one with all of the
///     state. The same happens when it exceeds four times its live size, and after a failed commit.
///  3. After a failed commit it is not known whether the edit is on disk: further commits fail until `renew`.
///  4. Opening writes nothing.
///
/// Threads: one at a time.
class Manifest {
 public:
  struct Random {
    virtual ~Random() = default;
    virtual std::uint64_t next() = 0;
  };

  /// Makes a store's first manifest and CURRENT, durably. The folder exists and holds no CURRENT.
  static Result<std::unique_ptr<Manifest>> create(FileSystem& files, const std::string& directory,
                                                  const TableIdentity& identity, Random& random);
  /// Reads CURRENT and the manifest it names. kIoError when there is no CURRENT: no store is here.
  static Result<std::unique_ptr<Manifest>> open(FileSystem& files, const std::string& directory, Random& random);
  /// A first manifest with this state, whatever was there before: for repair and checkpoints. CURRENT is renamed last.
  static Result<std::unique_ptr<Manifest>> create_with(FileSystem& files, const std::string& directory,
                                                       const ManifestState& state, std::uint64_t manifest_number,
                                                       Random& random);
  ~Manifest();

  [[nodiscard]] const ManifestState& state() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] const KnownJournalEnd& known_journal_end() const;
  [[nodiscard]] std::uint64_t bytes_written() const;

  /// Checks the edit against the state, makes it durable, then it is the state.
  Status commit(const ManifestEdit& edit);
  /// After a failed commit, when the cause is gone: a new manifest with the state as it was before the failed edit.
  Status renew();
  /// Marks the end, durably, and notes the journal's end in CURRENT. Writes nothing if neither changed since open.
  Status close(const KnownJournalEnd& journal);

 private:
  class Inside;
  explicit Manifest(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace tamis
