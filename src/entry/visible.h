// What an entry means to a reader.
#pragma once

#include <cstdint>

#include "base/check.h"
#include "entry/entry.h"

namespace tamis {

enum class Visible : std::uint8_t {
  kNewer,    ///< Written after the reader's moment: an older version of the key may be the answer.
  kValue,    ///< The key has this value.
  kDeleted,  ///< The key has no value, whatever its older versions hold.
};

/// What an Entry or a FoundEntry means to a reader at this moment, which sees what was written up to that sequence.
/// Readers ask this and never look at kinds. Decoding refuses kinds that this build does not know (is_entry_kind), so
/// that none of them is taken for a value or for a delete.
template <typename AnyEntry>
Visible visible(const AnyEntry& entry, Sequence moment) {
  if (entry.sequence > moment) return Visible::kNewer;
  if (entry.kind == EntryKind::kPut) [[likely]]
    return Visible::kValue;
  TAMIS_CHECK(entry.kind == EntryKind::kDelete);
  return Visible::kDeleted;
}

}  // namespace tamis
