#include "engine/due_times.h"

#include <algorithm>

#include "entry/batch_inside.h"
#include "entry/changes.h"
#include "entry/expiry.h"

namespace tamis {
namespace {

/// What a put without a time of its own gets.
std::uint64_t lifetime_of(KeyspaceId keyspace, const ExpiryDefaults& defaults) {
  if (defaults.of_write.count() != 0) return encoded_lifetime(defaults.of_write);
  const std::chrono::milliseconds of_keyspace = defaults.of_keyspace(keyspace);
  return of_keyspace.count() == 0 ? kNeverDue : encoded_lifetime(of_keyspace);
}

}  // namespace

Batch with_due_times(const Batch& batch, std::uint64_t now, const ExpiryDefaults& defaults) {
  Batch resolved = BatchInside::empty_like(batch);
  Changes(batch).visit([&](KeyspaceId keyspace, const EncodedEntry& entry) {
    if (entry.kind != EntryKind::kPut && entry.kind != EntryKind::kExpiringPut) {
      return BatchInside::add_any(resolved, keyspace, entry.kind, entry.key, entry.value);
    }
    const bool has_own = entry.kind == EntryKind::kExpiringPut;
    ExpiringValue value =
        has_own ? load_expiring(entry.value) : ExpiringValue{lifetime_of(keyspace, defaults), entry.value};
    if (value.due == kNeverDue) return BatchInside::add(resolved, keyspace, EntryKind::kPut, entry.key, value.value);
    if (is_lifetime(value.due)) value.due = std::min(now + lifetime_in(value.due), kMaxDue);
    BatchInside::add_expiring(resolved, keyspace, entry.key, value);
  });
  return resolved;
}

}  // namespace tamis
