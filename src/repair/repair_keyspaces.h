// Adds the keyspaces that a repair finds in files and that no manifest lists.
#pragma once

#include <set>
#include <string>

#include "entry/keyspace_id.h"
#include "tree/manifest_state.h"

namespace tamis {

/// Gives each keyspace a name that no other one has. Rule 35: the next id is above every id that was seen.
///
/// Threads: one. The state must outlive it.
class KeyspaceFinder {
 public:
  explicit KeyspaceFinder(ManifestState& state);

  /// If the name is taken, the id is appended. Precondition: the state does not have this id.
  void add(KeyspaceId id, std::string name);
  /// With an id that was not seen before.
  KeyspaceId add_new(std::string name);

 private:
  ManifestState& state_;
  std::set<std::string> names_;
};

}  // namespace tamis
