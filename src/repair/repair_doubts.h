// Collects where deleted keys may have reappeared, for the report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entry/keyspace_id.h"
#include "table/table_facts.h"
#include "tamis/stats.h"
#include "tree/manifest_state.h"

namespace tamis {

/// A doubt is about a table's range, about one keyspace or about all of them. The range of a keyspace is known once all
/// kept keys are known: that is why they are collected first.
///
/// Threads: one.
class RepairDoubts {
 public:
  /// The repaired store has an entry of this key.
  void key_is_kept(KeyspaceId keyspace, std::string_view key);

  /// A table lost entries. Only a lost delete can bring a key back.
  void table_lost_entries(KeyspaceId keyspace, const TableFacts& facts);
  /// About every kept key of the keyspace.
  void add(KeyspaceId keyspace, std::string why);
  /// About every kept key of every keyspace.
  void add_everywhere(std::string why);

  /// `state` has the names of the keyspaces.
  [[nodiscard]] std::vector<RepairReport::Doubt> in_report(const ManifestState& state) const;

 private:
  struct Range {
    std::string smallest;
    std::string largest;
  };
  struct OfTable {
    KeyspaceId keyspace;
    RepairReport::Doubt doubt;
  };
  struct OfKeys {
    std::optional<KeyspaceId> keyspace;  // None: all of them.
    std::string why;
  };

  std::map<KeyspaceId, Range> kept_;
  std::vector<OfTable> of_tables_;
  std::vector<OfKeys> of_keys_;
};

}  // namespace tamis
