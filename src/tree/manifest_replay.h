// Replays a manifest's edits.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// The result of with_edit for many edits. with_edit visits all tables for every edit, which takes minutes for a
/// hundred thousand tables and edits; this is linear in the size of the edits.
///
/// Invariants:
///  1. Every edit fits the ones before: it removes what exists and adds what does not.
///  2. finish checks once whether tables overlap. A refused edit ends the replay.
///
/// Threads: one at a time.
class ManifestReplay {
 public:
  explicit ManifestReplay(const TableIdentity& identity) { numbers_.identity = identity; }

  [[nodiscard]] const TableIdentity& identity() const { return numbers_.identity; }
  /// kCorruption if the edit does not fit.
  Status apply(const ManifestEdit& edit);
  /// The state after all of them; kCorruption if its shape is impossible.
  [[nodiscard]] Result<ManifestState> finish() const;

 private:
  ManifestState numbers_;                                       // Without a shape.
  std::unordered_map<std::uint64_t, ShapeEdit::Added> tables_;  // By number.
};

}  // namespace tamis
