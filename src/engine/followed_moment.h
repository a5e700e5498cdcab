// What a follower shows at one moment.
#pragma once

#include <map>
#include <memory>

#include "engine/read_view.h"
#include "entry/entry.h"
#include "entry/keyspace_id.h"

namespace tamis {

/// A view of every keyspace, and the sequence to read them at. Snapshots of a follower keep one: its writer does not
/// know of them, and drops what they see (rule 43).
///
/// Threads: constant.
struct FollowedMoment {
  using Views = std::map<KeyspaceId, std::shared_ptr<const ReadView>>;

  Sequence sequence = {};
  std::shared_ptr<const Views> views;  ///< Null: not a follower's.

  /// Null if the keyspace is not there.
  [[nodiscard]] std::shared_ptr<const ReadView> find(KeyspaceId id) const {
    const auto found = views->find(id);
    return found == views->end() ? nullptr : found->second;
  }
};

}  // namespace tamis
