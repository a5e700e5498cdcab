#include "repair/repair_doubts.h"

#include <fmt/core.h>

#include <utility>

namespace tamis {

void RepairDoubts::key_is_kept(KeyspaceId keyspace, std::string_view key) {
  const auto [found, is_first] = kept_.try_emplace(keyspace);
  Range& range = found->second;
  if (is_first || key < range.smallest) range.smallest = key;
  if (is_first || key > range.largest) range.largest = key;
}

void RepairDoubts::table_lost_entries(KeyspaceId keyspace, const TableFacts& facts) {
  if (facts.tombstones() == 0) return;
  of_tables_.push_back(
      {keyspace,
       {.from = std::string(facts.begin()),
        .to = std::string(facts.end().key),
        .why = fmt::format("table {} lost entries, and had {} deletes", facts.number, facts.tombstones())}});
}

void RepairDoubts::add(KeyspaceId keyspace, std::string why) { of_keys_.push_back({keyspace, std::move(why)}); }

void RepairDoubts::add_everywhere(std::string why) { of_keys_.push_back({std::nullopt, std::move(why)}); }

std::vector<RepairReport::Doubt> RepairDoubts::in_report(const ManifestState& state) const {
  const auto name_of = [&](KeyspaceId keyspace) {
    return keyspace == kDefaultKeyspace ? std::string(kDefaultKeyspaceName) : state.keyspaces.at(keyspace).name;
  };
  std::vector<RepairReport::Doubt> doubts;
  for (const OfTable& table : of_tables_) {
    doubts.push_back(table.doubt);
    doubts.back().keyspace = name_of(table.keyspace);
  }
  for (const OfKeys& keys : of_keys_) {
    for (const auto& [keyspace, range] : kept_) {
      if (keys.keyspace && *keys.keyspace != keyspace) continue;
      doubts.push_back({range.smallest, range.largest, keys.why, name_of(keyspace)});
    }
  }
  return doubts;
}

}  // namespace tamis
