// Tables of which range deletes leave nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entry/range_tombstones.h"
#include "tree/shape.h"

namespace tamis {

/// The numbers of the tables that can be removed unread (rule 27): range deletes of other tables of the shape cover all
/// that they hold, are newer than all of it, and hide it from every reader that can see any of it. Their own deletes
/// and range deletes cover only keys that those range deletes cover too. These stay: the drop rule keeps them while an
/// older run overlaps them.
///
/// `range_deletes` are in tables of this shape; `snapshots` ascend and end with the sequence published (rule 9). Pure.
std::vector<std::uint64_t> tables_covered_whole(const Shape& shape, const RangeTombstones& range_deletes,
                                                std::span<const Sequence> snapshots);

/// The bytes of tables, and of the values that they point to, that lie whole in the range and that range deletes did
/// not cover before.
std::uint64_t newly_covered_bytes(const Shape& shape, const RangeTombstones& before, const KeyRange& range);

}  // namespace tamis
