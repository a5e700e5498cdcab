// The part of the write path that knows of range deletes.
#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/try.h"
#include "compaction/covered_tables.h"
#include "engine/writer.h"
#include "entry/batch_format.h"

namespace tamis {
namespace {

/// Less space than this waits until the memtable is full.
constexpr std::uint64_t kMinFreedBytes = std::uint64_t{1} << 20;

}  // namespace

/// The memory for the group's range deletes, in place of what a group that failed has left.
Status Writer::prepare_range_deletes(std::uint64_t entries) {
  writing_->forget_prepared();
  for (auto& [id, writing] : others_) writing.memtable->forget_prepared();
  KeyspaceId id = keyspaces_of_group_.first;
  const char* const end = payload_.data() + payload_.size();
  for (const char* at = payload_.data() + batch_header_bytes(id, entries); at != end;) {
    const EncodedEntry entry = load_batch_entry(at, id);
    at = entry.end;
    if (entry.kind != EntryKind::kRangeDelete) continue;
    Memtable& memtable = id == kDefaultKeyspace ? *writing_ : *others_.at(id).memtable;
    TAMIS_TRY_STATUS(memtable.prepare_range_delete(entry.key, entry.value));
  }
  return {};
}

/// Those in which the group has covered tables that take more space than a flush of the memtable would.
Writer::Trees Writer::trees_with_covered_tables() const {
  Trees trees;
  for (const Changes& changes : changes_) {
    changes.visit([&](KeyspaceId id, const EncodedEntry& entry) {
      if (entry.kind != EntryKind::kRangeDelete) return;
      std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(id);
      if (keyspace == nullptr || std::ranges::find(trees, keyspace) != trees.end()) return;
      const std::shared_ptr<const Version> version = keyspace->tree.version();
      const RangeTombstone added = range_tombstone_of({entry.key, entry.value, {}, entry.kind});
      const RangeTombstones none;
      const RangeTombstones& before = version->range_deletes() == nullptr ? none : version->range_deletes()->known();
      const std::uint64_t freed = newly_covered_bytes(version->shape(), before, added.range);
      if (freed >= std::max(kMinFreedBytes, keyspace->tree.active_bytes())) trees.push_back(std::move(keyspace));
    });
  }
  return trees;
}

/// Only what is in tables can remove tables (rule 27). So range deletes that free much space are flushed at once. If
/// that fails, they wait for the next flush: the group is committed.
void Writer::seal_if_tables_are_covered() {
  if (!keyspaces_.oldest_sealed().empty()) return;
  const Status sealed = seal(trees_with_covered_tables());
  if (!sealed.ok() && journals_.is_lost()) health_.stop_writes(sealed);
}

}  // namespace tamis
