// Replays a manifest's edits.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// The result of apply_edit for many edits. apply_edit visits all tables for every edit, which takes minutes for a
/// hundred thousand tables and edits; this is linear in the size of the edits.
///
/// Invariants:
///  1. Every edit fits the ones before: it removes what exists and adds what does not.
///  2. finish checks once whether tables overlap and whether names are unique. A refused edit ends the replay.
///
/// Threads: one at a time.
class ManifestReplay {
 public:
  explicit ManifestReplay(const TableIdentity& identity) { state_.identity = identity; }

  [[nodiscard]] const TableIdentity& identity() const { return state_.identity; }
  /// kCorruption if the edit does not fit.
  Status apply(const ManifestEdit& edit);
  /// The state after all of them; kCorruption if its shape is impossible.
  [[nodiscard]] Result<ManifestState> finish() const;

 private:
  struct Placed {
    KeyspaceId keyspace = {};
    ShapeEdit::Added table;
  };

  Status take_tables(KeyspaceId keyspace, const ShapeEdit& edit);

  ManifestState state_;                               // Shapes have value files and no tables.
  std::unordered_map<std::uint64_t, Placed> tables_;  // By number. A dropped keyspace's stay here, and are left out.
};

}  // namespace tamis
