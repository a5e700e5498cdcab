// A commit that is too large for memtables and the journal becomes tables at once (rule 37).
#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/try.h"
#include "compaction/plan_parts.h"
#include "engine/table_rewrites.h"
#include "entry/vector_iterator.h"

namespace tamis {
namespace {

/// The entries of one keyspace that become the next run, and the runs before it.
struct Pending {
  std::shared_ptr<OpenKeyspace> keyspace;
  std::vector<Entry> entries;
  std::vector<RangeTombstone> range_deletes;
  std::deque<Run> runs;
  KeyspaceEdit edit;
};

}  // namespace

/// The keys and values stay in the caller's memory; what is kept here, the entries to be sorted, takes at most as much
/// as a memtable.
Result<std::vector<TreeChange>> TableRewrites::write_changes(const Changes& changes, Sequence first) {
  const std::size_t max_entries = std::max<std::size_t>(context_.memtable_bytes / sizeof(Entry), 1);
  std::map<KeyspaceId, Pending> trees;
  std::size_t pending_entries = 0;
  std::vector<RewriteResult> results;
  const auto write_pending = [&]() -> Status {
    for (auto& [id, tree] : trees) {
      if (tree.entries.empty() && tree.range_deletes.empty()) continue;
      std::ranges::sort(tree.entries, {}, &Entry::position);
      VectorIterator sorted(tree.entries);
      TAMIS_TRY(RewriteResult result, write_run(*tree.keyspace, sorted, tree.entries.size(),
                                                std::exchange(tree.range_deletes, {}), tree.runs, tree.edit));
      Run& run = tree.runs.emplace_front();
      run.tables = result.tables;
      results.push_back(std::move(result));
      tree.entries.clear();
    }
    pending_entries = 0;
    return {};
  };
  Status written;
  Sequence sequence = first;
  changes.visit([&](KeyspaceId id, const EncodedEntry& entry) {
    if (!written.ok()) return;
    Pending& tree = trees[id];
    if (tree.keyspace == nullptr) tree.keyspace = keyspaces_.find(id);
    const Entry made{entry.key, entry.value, sequence, entry.kind};
    if (entry.kind == EntryKind::kRangeDelete) {
      tree.range_deletes.push_back(range_tombstone_of(made));
    } else {
      tree.entries.push_back(made);
    }
    sequence = sequence + 1;
    if (++pending_entries == max_entries) written = write_pending();
  });
  if (written.ok()) written = write_pending();
  if (!written.ok()) {
    for (const RewriteResult& result : results) remove_unused(result);
    return written;
  }
  std::vector<TreeChange> made;
  made.reserve(trees.size());
  for (auto& [id, tree] : trees) made.push_back({.keyspace = tree.keyspace.get(), .edit = std::move(tree.edit)});
  return made;
}

}  // namespace tamis
