#include "engine/own_writes.h"

#include "base/try.h"
#include "entry/batch_format.h"
#include "entry/changes.h"

namespace tamis {

Result<std::optional<FoundEntry>> OwnWrites::find(KeyspaceId keyspace, std::string_view key, Sequence up_to) {
  std::optional<FoundEntry> found;
  if (batch_.size() > kFewWrites) {
    TAMIS_TRY_STATUS(fill_memtables());
    const auto own = memtables_.find(keyspace);
    if (own != memtables_.end()) found = own->second->find({.key = key, .hash = hasher_(key), .sequence = up_to});
    return found;
  }
  Sequence sequence = snapshot_;
  Changes(batch_).visit([&](KeyspaceId id, const EncodedEntry& entry) {
    sequence = sequence + 1;
    if (id == keyspace && entry.key == key && sequence <= up_to) found = FoundEntry{entry.kind, sequence, entry.value};
  });
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
    TAMIS_TRY_STATUS(memtable.reserve(1, entry.key.size() + entry.value.size()));
    sequence = sequence + 1;
    memtable.insert({entry.key, entry.value, sequence, entry.kind}, hasher_(entry.key));
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
