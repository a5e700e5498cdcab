// Divides a rewrite among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compaction/policy.h"
#include "entry/key_range.h"
#include "tree/shape.h"

namespace tamis {

/// Ranges of keys, in key order and together all keys, that can be rewritten independently: at most `most` of about the
/// same size, none much smaller than `part_bytes`. Parts meet where a table of the largest input begins, so a plan
/// whose inputs have one table each is not divided.
std::vector<KeyRange> parts_of(const Shape& shape, const CompactionPlan& plan, std::size_t most,
                               std::uint64_t part_bytes);

}  // namespace tamis
