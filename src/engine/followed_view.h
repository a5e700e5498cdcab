// What a follower has read of its store.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/keyspaces.h"
#include "engine/open_keyspace.h"
#include "engine/tree.h"
#include "entry/keyspace_id.h"
#include "journal/journal_tail.h"
#include "memtable/memtable.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"
#include "tree/version.h"

namespace tamis {

/// What was read of the store. While the follower moves on, it may be ahead of what is shown.
struct FollowedView {
  /// The entries of one journal.
  struct Part {
    std::shared_ptr<Memtable> memtable;
    std::uint64_t first = 0;  // The sequences of its first and its last record.
    std::uint64_t last = 0;
  };
  struct Followed {
    std::shared_ptr<OpenKeyspace> keyspace;
    std::shared_ptr<const Version> version = nullptr;
    std::vector<Part> parts = {};  // Oldest first.
    bool takes_records = false;    // The newest part does.
    std::uint64_t flushed_sequence = 0;
    bool is_new = true;      // Not listed among the keyspaces yet.
    bool is_changed = true;  // Not shown yet.

    [[nodiscard]] FollowedTree to_show() const;
    Memtable* begin(const JournalRecord& record, std::uint64_t full_at, const std::shared_ptr<SpareMemory>& spare) {
      if (!std::exchange(takes_records, true)) {
        parts.push_back({std::make_shared<Memtable>(full_at, spare), record.first_sequence, 0});
        is_changed = true;
      }
      parts.back().last = record.first_sequence + record.count - 1;
      return parts.back().memtable.get();
    }
  };

  explicit FollowedView(JournalTail journals) : tail(std::move(journals)) {}

  /// Takes the keyspaces of this state. Their trees stay as they are.
  Status take(ManifestState next, Keyspaces& keyspaces);
  /// Forgets memtables that are in tables now. kStale if only a part of one is.
  Status forget_flushed();
  /// The records of the next journal go to new memtables, as the writer's do.
  void begin_journal() {
    journal = tail.journal();
    for (auto& [id, followed] : trees) followed.takes_records = false;
  }

  ManifestState state;
  std::map<KeyspaceId, Followed> trees;
  JournalTail tail;
  std::uint64_t journal = 0;  // Of the newest parts.
};

}  // namespace tamis
