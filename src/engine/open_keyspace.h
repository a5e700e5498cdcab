// What exists once per keyspace of an open store.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "engine/health.h"
#include "engine/keyspace_operator.h"
#include "engine/published_sequence.h"
#include "engine/reader.h"
#include "engine/run_indexer.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "engine/tree.h"
#include "entry/keyspace_id.h"

namespace tamis {

/// A keyspace: its tree, and the parts that read it. Handles keep it alive; the store opens and closes it.
///
/// Threads: any.
struct OpenKeyspace {
  OpenKeyspace(const TreeParts& parts, const Health& health, const PublishedSequence& published, KeyspaceId id,
               std::string given_name, std::shared_ptr<const TreeSettings> settings)
      : name(std::move(given_name)),
        tree(parts, id, std::move(settings)),
        reader(tree.view(), published, parts.context.hasher, parts.context.expiry, merge_operator),
        indexer(parts.context, parts.memory, tree, health, reader) {}

  [[nodiscard]] KeyspaceId id() const { return tree.id(); }
  /// Whether a snapshot still sees the keyspace: this many had been dropped before it. The sequence does not tell: a
  /// drop has none.
  [[nodiscard]] bool is_visible_after(std::uint64_t drops) const {
    return drops < drop_number.load(std::memory_order_acquire);
  }
  [[nodiscard]] bool is_dropped() const { return drop_number.load(std::memory_order_acquire) != kNotDropped; }

  static constexpr std::uint64_t kNotDropped = std::numeric_limits<std::uint64_t>::max();

  const std::string name;
  Tree tree;
  KeyspaceOperator merge_operator = nullptr;
  Reader reader;
  RunIndexer indexer;
  std::atomic<std::uint64_t> drop_number = kNotDropped;  ///< How many had been dropped, with this one.
  /// Since the store was opened, its operator was checked and is stored, and journals have the feature.
  std::atomic<bool> may_merge = false;
  // For Maintenance.
  std::atomic<std::uint64_t> settled_generation = 0;  ///< Of the tree when nothing was left to compact.
  std::atomic<std::uint64_t> settled_at = 0;          ///< The time of that, in seconds.
};

/// kInvalidArgument if nothing can be merged into the keyspace, kNotSupported if the function is missing.
[[nodiscard]] inline Status check_has_operator(const OpenKeyspace& keyspace) {
  const MergeOperator* const merge_operator = keyspace.merge_operator.load(std::memory_order_acquire);
  if (merge_operator != nullptr && merge_operator->fold) return {};
  if (merge_operator == nullptr) {
    return Status::invalid_argument("the keyspace '" + keyspace.name + "' has no merge operator; set merge_operator");
  }
  return Status::not_supported("the merge operator '" + merge_operator->name + "' of the keyspace '" + keyspace.name +
                               "' is not registered; add it to Options::merge_operators");
}

}  // namespace tamis
