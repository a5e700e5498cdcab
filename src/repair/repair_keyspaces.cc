#include "repair/repair_keyspaces.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace tamis {

KeyspaceFinder::KeyspaceFinder(ManifestState& state) : state_(state), names_{std::string(kDefaultKeyspaceName)} {
  for (const auto& [id, keyspace] : state.keyspaces) names_.insert(keyspace.name);
}

void KeyspaceFinder::add(KeyspaceId id, std::string name) {
  while (!names_.insert(name).second) name += fmt::format("~{}", number_of(id));
  state_.keyspaces[id].name = std::move(name);
  state_.next_keyspace = std::max(state_.next_keyspace, number_of(id) + 1);
  state_.features |= Features::of(Feature::kKeyspaces);
}

KeyspaceId KeyspaceFinder::add_new(std::string name) {
  const KeyspaceId id{state_.next_keyspace};
  add(id, std::move(name));
  return id;
}

}  // namespace tamis
