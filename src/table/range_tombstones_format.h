// The section of a table with its range deletes. Documented in docs/FORMAT.md.
//
//     varint   number of range deletes
//     each, in the order of entries:
//       varint   bytes of the begin
//       –        the begin, inclusive
//       varint   bytes of the end; 0: there is none
//       –        the end, exclusive
//       varint   sequence
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "entry/range_tombstones.h"
#include "tamis/status.h"

namespace tamis {

/// `fragments` are as fragments_of makes them.
std::string encode_range_tombstones(std::span<const RangeTombstone> fragments);
/// Any bytes give fragments or kCorruption. `offset` is where the section begins in the file `name`.
Result<std::vector<RangeTombstone>> decode_range_tombstones(Bytes bytes, std::string_view name, std::uint64_t offset);

}  // namespace tamis
