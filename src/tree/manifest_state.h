// The contents of a manifest, as plain data.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "entry/keyspace_id.h"
#include "table/table_format.h"
#include "tree/expiry_horizon.h"
#include "tree/shape.h"

namespace tamis {

/// What the manifest records of one keyspace.
struct KeyspaceState {
  std::string name = {};     ///< Empty for the default keyspace, and for no other.
  std::string options = {};  ///< Lines "name=value". The default keyspace has none: its options are the store's.
  Shape shape = {};
  std::uint64_t flushed_sequence = 0;  ///< Its writes up to here are in tables; counts if above the store's.
};

/// Everything the manifest records.
struct ManifestState {
  TableIdentity identity = {};                                               ///< Drawn when the store was created.
  std::map<KeyspaceId, KeyspaceState> keyspaces = {{kDefaultKeyspace, {}}};  ///< The default one always.
  std::uint32_t next_keyspace = 1;     ///< Ids below this were given; one that is not in `keyspaces` was dropped.
  std::uint64_t flushed_sequence = 0;  ///< All writes up to here, of every keyspace, are in tables.
  std::uint64_t first_journal = 0;     ///< Journals with smaller numbers are not needed.
  /// Numbers below this may have been given to a file; a table below it that is in no shape is redundant.
  std::uint64_t reserved_numbers = 0;
  std::uint64_t term = 0;      ///< Grows with every recovery that was not clean and every restart of writes (rule 42).
  ExpiryHorizon horizon = {};  ///< Of a store that uses expiry.
  /// In use anywhere in the store, once it was in use: in the headers of the manifest and of CURRENT, not in records.
  Features features = {};
};

/// A keyspace that an edit creates.
struct NewKeyspace {
  std::string name = {};
  std::string options = {};

  friend bool operator==(const NewKeyspace&, const NewKeyspace&) = default;
};

/// What an edit does to one keyspace.
struct KeyspaceEdit {
  std::optional<NewKeyspace> created = {};
  std::optional<std::string> options = {};  ///< Replace those that it has.
  ShapeEdit shape = {};
  std::optional<std::uint64_t> flushed_sequence = {};
};

/// One durable step. The numbers never decrease. A keyspace is created with an id that was never given before.
struct ManifestEdit {
  std::map<KeyspaceId, KeyspaceEdit> keyspaces = {};
  std::vector<KeyspaceId> dropped = {};
  std::optional<std::uint64_t> flushed_sequence = {};
  std::optional<std::uint64_t> first_journal = {};
  std::optional<std::uint64_t> reserved_numbers = {};
  std::optional<std::uint64_t> term = {};
  std::optional<ExpiryHorizon> horizon = {};
  Features features = {};  ///< That come into use, besides what keyspaces and added tables need.
  std::optional<std::uint32_t> next_keyspace = {};  ///< Only whole_edit needs it: creating a keyspace raises it too.
};

/// An edit of one keyspace.
ManifestEdit edit_of(KeyspaceId keyspace, KeyspaceEdit edit);

/// Changes the state; kCorruption, and no change, if the edit does not fit it. Visits the tables of the keyspaces that
/// the edit names, and of the others only to find a table that the edit adds.
Status apply_edit(ManifestState& state, const ManifestEdit& edit);
/// The edit that turns an empty state of the same identity into this one.
ManifestEdit whole_edit(const ManifestState& state);
/// Of all keyspaces, ascending.
std::vector<std::uint64_t> table_numbers(const ManifestState& state);
std::vector<std::uint64_t> value_file_numbers(const ManifestState& state);
/// The writes of this keyspace up to here are in tables (rule 34).
inline std::uint64_t flushed_sequence_of(const ManifestState& state, const KeyspaceState& keyspace) {
  return std::max(state.flushed_sequence, keyspace.flushed_sequence);
}
/// The largest of these.
std::uint64_t newest_flushed_sequence_of(const ManifestState& state);
/// The invariants of every shape, and over all keyspaces: no name and no number of a table or a value file occurs
/// twice.
Status check_state(const ManifestState& state);

/// An edit that fits a state, in the two halves of apply_edit: the manifest writes between them. Its size is that of
/// the edit and of the shapes that change.
class CheckedEdit {
 public:
  static Result<CheckedEdit> make(const ManifestState& state, const ManifestEdit& edit);
  /// The same without a look at the names and tables of all keyspaces; for ManifestReplay, which does so at its end.
  static Result<CheckedEdit> make_unchecked(const ManifestState& state, const ManifestEdit& edit);

  /// Of the state after it.
  [[nodiscard]] const Features& features() const { return features_; }
  /// To the state that it was made for.
  void apply_to(ManifestState& state) &&;

 private:
  struct Changed {
    std::optional<std::string> name;  // It is created.
    std::optional<std::string> options;
    std::optional<Shape> shape;  // If it changes.
    std::uint64_t flushed_sequence = 0;
  };

  Status take_keyspace(const ManifestState& state, KeyspaceId id, const KeyspaceEdit& edit);
  Status take_dropped(const ManifestState& state, const ManifestEdit& edit);

  std::map<KeyspaceId, Changed> changed_;
  std::vector<KeyspaceId> dropped_;
  std::uint32_t next_keyspace_ = 0;
  std::uint64_t flushed_sequence_ = 0;
  std::uint64_t first_journal_ = 0;
  std::uint64_t reserved_numbers_ = 0;
  std::uint64_t term_ = 0;
  ExpiryHorizon horizon_;
  Features features_;
};

/// The end of a journal that was closed cleanly, kept in CURRENT so that a truncated file cannot pass for a shorter
/// one. Valid while that journal exists.
struct KnownJournalEnd {
  std::uint64_t number = 0;  ///< 0: unknown.
  std::uint64_t salt = 0;
  std::uint64_t durable_bytes = 0;

  friend bool operator==(const KnownJournalEnd&, const KnownJournalEnd&) = default;
};

}  // namespace tamis
