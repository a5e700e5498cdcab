#include "engine/followed_view.h"

#include <utility>

#include "base/try.h"
#include "engine/keyspace_options.h"

namespace tamis {

FollowedTree FollowedView::Followed::to_show() const {
  FollowedTree tree{.version = version, .active = nullptr, .sealed = {}};
  for (const Part& part : parts) {
    if (takes_records && &part == &parts.back()) {
      tree.active = part.memtable;
    } else {
      tree.sealed.insert(tree.sealed.begin(), {.memtable = part.memtable, .last_sequence = Sequence{part.last}});
    }
  }
  return tree;
}

Status FollowedView::take(ManifestState next, Keyspaces& keyspaces) {
  state = std::move(next);
  std::erase_if(trees, [&](const auto& tree) { return !state.keyspaces.contains(tree.first); });
  for (const auto& [id, keyspace] : state.keyspaces) {
    auto found = trees.find(id);
    if (found == trees.end()) {
      std::shared_ptr<OpenKeyspace> open = keyspaces.find(id);
      const bool is_new = open == nullptr;
      if (is_new) {
        TAMIS_TRY(open, keyspaces.make_stored(id, keyspace));
      }
      found = trees.emplace(id, Followed{.keyspace = std::move(open), .is_new = is_new}).first;
    }
    TAMIS_TRY(const KeyspaceOptions stored, parse_keyspace_options(keyspace.options));
    TAMIS_TRY_STATUS(keyspaces.take_operator(*found->second.keyspace, stored));
    found->second.flushed_sequence = flushed_sequence_of(state, keyspace);
  }
  return {};
}

Status FollowedView::forget_flushed() {
  for (auto& [id, followed] : trees) {
    const auto is_flushed = [&followed = followed](const Part& part) { return part.last <= followed.flushed_sequence; };
    if (!followed.parts.empty() && is_flushed(followed.parts.back())) followed.takes_records = false;
    if (std::erase_if(followed.parts, is_flushed) > 0) followed.is_changed = true;
    if (!followed.parts.empty() && followed.parts.front().first <= followed.flushed_sequence) {
      return Status::stale("a flush ended within what was read of a journal");
    }
  }
  return {};
}

}  // namespace tamis
