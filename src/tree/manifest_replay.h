// A manifest's edits as they are read, one after the other.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// What with_edit makes of edits, for many of them: that goes through all tables for every edit, which for a hundred
/// thousand tables and edits are minutes; this takes as long as the edits are.
///
/// Invariants:
///  1. Every edit fits the ones before: it removes what is there and adds what is not.
///  2. Whether tables overlap is looked at once, by finish. An edit that was refused ends the replay.
///
/// Threads: one at a time.
class ManifestReplay {
 public:
  explicit ManifestReplay(const TableIdentity& identity) { numbers_.identity = identity; }

  [[nodiscard]] const TableIdentity& identity() const { return numbers_.identity; }
  /// kCorruption when the edit does not fit.
  Status apply(const ManifestEdit& edit);
  /// The state after all of them; kCorruption when its shape cannot be.
  [[nodiscard]] Result<ManifestState> finish() const;

 private:
  ManifestState numbers_;                                       // Without a shape.
  std::unordered_map<std::uint64_t, ShapeEdit::Added> tables_;  // By number.
};

}  // namespace tamis
