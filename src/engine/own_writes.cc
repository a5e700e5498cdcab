#include "engine/own_writes.h"

#include "base/try.h"
#include "entry/batch_format.h"
#include "entry/changes.h"

namespace tamis {

Result<std::optional<FoundEntry>> OwnWrites::find(KeyspaceId keyspace, std::string_view key, Sequence up_to) {
  if (batch_.size() > kFewWrites || BatchInside::has_range_deletes(batch_)) {
    return find_in_memtable(keyspace, key, up_to);
  }
  std::optional<FoundEntry> found;
  Sequence sequence = snapshot_;
  Changes(batch_).visit([&](KeyspaceId id, const EncodedEntry& entry) {
    sequence = sequence + 1;
    if (id == keyspace && entry.key == key && sequence <= up_to) found = FoundEntry{entry.kind, sequence, entry.value};
  });
  return found;
}

/// A key of a range that was removed later has been deleted.
Result<std::optional<FoundEntry>> OwnWrites::find_in_memtable(KeyspaceId keyspace, std::string_view key,
                                                              Sequence up_to) {
  TAMIS_TRY_STATUS(fill_memtables());
  const auto own = memtables_.find(keyspace);
  if (own == memtables_.end()) return std::optional<FoundEntry>();
  const Memtable& memtable = *own->second;
  std::optional<FoundEntry> found = memtable.find({.key = key, .hash = hasher_(key), .sequence = up_to});
  if (!memtable.has_range_deletes()) return found;
  TAMIS_TRY(const RangeTombstone* const newest, memtable.range_deletes().newest_covering(key, up_to));
  const bool is_covered = newest != nullptr && (!found || found->sequence < newest->sequence);
  if (is_covered) found = FoundEntry{EntryKind::kDelete, newest->sequence, {}};
  return found;
}

Result<std::shared_ptr<Memtable>> OwnWrites::memtable(KeyspaceId keyspace) {
  TAMIS_TRY_STATUS(fill_memtables());
  const auto own = memtables_.find(keyspace);
  return own == memtables_.end() ? std::shared_ptr<Memtable>() : own->second;
}

Status OwnWrites::fill_memtables() {
  const std::string_view entries = BatchInside::entries(batch_);
  KeyspaceId keyspace = filled_.count == 0 ? BatchInside::keyspaces(batch_).first : KeyspaceId{filled_.last_keyspace};
  Sequence sequence = snapshot_ + filled_.count;
  for (const char* at = entries.data() + filled_.bytes; at != entries.data() + entries.size();) {
    const EncodedEntry entry = load_batch_entry(at, keyspace);
    Memtable& memtable = memtable_of(keyspace);
    TAMIS_TRY_STATUS(entry.kind == EntryKind::kRangeDelete
                         ? memtable.prepare_range_delete(entry.key, entry.value)
                         : memtable.reserve(1, entry.key.size() + entry.value.size()));
    sequence = sequence + 1;
    insert_entry(memtable, {entry.key, entry.value, sequence, entry.kind}, hasher_);
    at = entry.end;
    filled_.bytes = static_cast<std::size_t>(at - entries.data());
    filled_.last_keyspace = number_of(keyspace);
    ++filled_.count;
  }
  return {};
}

Memtable& OwnWrites::memtable_of(KeyspaceId keyspace) {
  std::shared_ptr<Memtable>& memtable = memtables_[keyspace];
  if (memtable == nullptr) memtable = std::make_shared<Memtable>();
  return *memtable;
}

/// Memtables that have more than is left are made anew when they are needed.
void OwnWrites::truncate(const BatchMark& mark) {
  BatchInside::truncate(batch_, mark);
  if (filled_.count <= mark.count) return;
  memtables_.clear();
  filled_ = {};
}

}  // namespace tamis
