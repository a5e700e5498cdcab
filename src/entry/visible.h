// What an entry means to a reader.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "entry/entry.h"
#include "entry/expiry.h"

namespace tamis {

/// What a reader sees: what was written up to a sequence and is not due by a time. Snapshots, iterators and multi_gets
/// fix both when they begin (rule 30).
struct Moment {
  Sequence sequence = kMaxSequence;
  std::uint64_t time = 0;  ///< In milliseconds since 1970. Any, if nothing up to the sequence expires.

  friend bool operator==(const Moment&, const Moment&) = default;
};

enum class Visible : std::uint8_t {
  kNewer,    ///< Written after the reader's moment: an older version of the key may be the answer.
  kValue,    ///< The key has this value.
  kDeleted,  ///< The key has no value, whatever its older versions hold.
  // A lookup is not over with what follows.
  kApart,    ///< The key has a value in a value file, to which this points.
  kOperand,  ///< Its fold with the older versions is the value (rule 31).
};

/// The part of `visible` for entries that are no plain puts.
template <typename LoadTime>
Visible visible_unless_put(EntryKind kind, std::string_view stored, LoadTime load_time, std::string_view& value) {
  if (kind == EntryKind::kInValue) take_kind(kind, stored);
  if (kind == EntryKind::kDelete) return Visible::kDeleted;
  if (kind == EntryKind::kMerge) {
    value = stored;
    return Visible::kOperand;
  }
  if (expires(kind)) {
    const ExpiringValue expiring = load_expiring(stored);
    if (expiring.due <= load_time()) return Visible::kDeleted;  // Rule 28.
    stored = expiring.value;
  }
  value = stored;
  if (kind == EntryKind::kPutApart || kind == EntryKind::kExpiringPutApart) return Visible::kApart;
  TAMIS_CHECK(kind == EntryKind::kExpiringPut);
  return Visible::kValue;
}

/// What an Entry or a FoundEntry means to a reader that sees what was written up to this sequence. `load_time` returns
/// the reader's time, and is called only for an entry that expires. Sets `value` for kValue, to the user's value, for
/// kApart, to the pointer, and for kOperand. Readers ask this and never look at kinds. Decoding refuses kinds that this
/// build does not know (is_entry_kind), so that none of them is taken for a value or for a delete.
template <typename AnyEntry, typename LoadTime>
Visible visible(const AnyEntry& entry, Sequence sequence, LoadTime load_time, std::string_view& value) {
  if (entry.sequence > sequence) return Visible::kNewer;
  if (entry.kind == EntryKind::kPut) [[likely]] {
    value = entry.value;
    return Visible::kValue;
  }
  return visible_unless_put(entry.kind, entry.value, load_time, value);
}

/// The same at a moment.
template <typename AnyEntry>
Visible visible(const AnyEntry& entry, const Moment& moment, std::string_view& value) {
  return visible(
      entry, moment.sequence, [&moment] { return moment.time; }, value);
}

/// Whether this is kValue, with the whole value of the entry. False also for some others that are kValue.
template <typename AnyEntry>
bool is_plain_value(const AnyEntry& entry, Sequence sequence) {
  return entry.sequence <= sequence && entry.kind == EntryKind::kPut;
}

}  // namespace tamis
