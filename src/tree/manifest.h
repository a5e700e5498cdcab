// The durable record of which tables make up the store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/random_source.h"
#include "io/file_system.h"
#include "table/table_format.h"
#include "tamis/status.h"
#include "tree/current_format.h"
#include "tree/manifest_state.h"

namespace tamis {

/// A new store's id and key.
TableIdentity draw_identity(RandomSource& random);

/// A journal of edits, named by CURRENT, which also says how far it was durable.
///
/// Invariants:
///  1. An edit for which commit returned ok is durable, and CURRENT records that it is.
///  2. A manifest that was not closed cleanly is not appended to: the first commit starts a new one with the whole
///     state. The same happens if it exceeds four times its live size, and after a failed commit. Then manifests that
///     CURRENT durably left behind are removed; their numbers are not reused.
///  3. After a failed commit it is unknown whether the edit is on disk: further commits fail until `renew`.
///  4. The headers of the manifest and of CURRENT have every feature of the state: an edit that brings a new one starts
///  a
///     new manifest (rule 36).
///  5. Opening writes nothing. After a crash the state may hold one edit more than was durable: before anything is
///     deleted because of it, a commit, even of an empty edit, must make it durable.
///
/// Threads: one at a time.
class Manifest {
 public:
  /// Creates a store's first manifest and CURRENT, durably. The folder exists and has no CURRENT.
  static Result<std::unique_ptr<Manifest>> create(FileSystem& files, const std::string& directory,
                                                  const TableIdentity& identity, RandomSource& random);
  /// Reads CURRENT and the manifest it names. kIoError if there is no CURRENT: no store is here.
  static Result<std::unique_ptr<Manifest>> open(FileSystem& files, const std::string& directory, RandomSource& random);
  /// A first manifest with this state, replacing any earlier one: for repair and checkpoints. When the manifest is
  /// written, `before_current` is called; CURRENT is renamed last; nothing is removed. A number whose file already
  /// exists is skipped.
  static Result<std::unique_ptr<Manifest>> create_with(FileSystem& files, const std::string& directory,
                                                       const ManifestState& state, std::uint64_t manifest_number,
                                                       RandomSource& random,
                                                       const std::function<Status()>& before_current = {});
  /// What a follower has read of a manifest that another process writes. Every commit fails.
  static std::unique_ptr<Manifest> follow(FileSystem& files, const std::string& directory, ManifestState state,
                                          const Current& current, RandomSource& random);
  ~Manifest();

  [[nodiscard]] const ManifestState& state() const;
  [[nodiscard]] std::uint64_t number() const;
  [[nodiscard]] const KnownJournalEnd& known_journal_end() const;
  /// To manifests and CURRENT, by this object.
  [[nodiscard]] std::uint64_t bytes_written() const;

  /// Checks the edit against the state, makes it durable, then applies it. An edit that does not fit the state is
  /// kCorruption and changes nothing.
  Status commit(const ManifestEdit& edit);
  /// After a failed commit, once the cause is gone: starts a new manifest with the state before the failed edit.
  Status renew();
  /// Marks the end, durably, and records the journal's end in CURRENT; number 0 leaves the recorded end unchanged.
  /// Writes nothing if neither changed since open, nor after a failed commit, whose error it returns. Call it last.
  Status close(const KnownJournalEnd& journal);

 private:
  class Inside;
  explicit Manifest(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace tamis
