// Level 0: which of its tables can leave together, and what to do while the way down is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compaction/claims.h"
#include "compaction/plan_parts.h"
#include "compaction/policy.h"
#include "tree/shape.h"

namespace tamis {

/// Tables of level 0 that overlap each other, directly or through others of them, and none of the rest: they can go
/// down without it. The span's views belong to the facts of the shape.
struct OverlapGroup {
  std::vector<CompactionInput> inputs;  ///< Newest first.
  KeySpan span;
  bool is_free = true;           ///< No compaction is rewriting any of them.
  std::uint64_t entries = 0;     ///< Of all of them.
  std::uint64_t tombstones = 0;  ///< The same.
  std::uint64_t blocks = 0;      ///< The same.

  [[nodiscard]] std::size_t runs() const { return inputs.size(); }
};

/// In key order.
std::vector<OverlapGroup> groups_of_level_zero(const Shape& shape, const Admission& admission);

/// Where tables of levels 0 and 1 end besides, so that those of different flushes line up, and level 0 falls into
/// groups.
struct LevelZeroCuts {
  std::vector<std::string> keys = {};                     ///< Before each of these, which ascend.
  std::uint64_t bytes_in_level_zero = ~std::uint64_t{0};  ///< At this size, if there are too few keys.
  std::uint64_t bytes_in_level_one = ~std::uint64_t{0};   ///< At this size.
};

/// Between parts of level 1 of about equal size, at most 16; where it has too few tables, level 0 shows it where to end
/// them. The keys of `before`, the last answer, stay as long as the parts between them are not too small: tables of
/// level 0 that were cut elsewhere make one group of several. While flushes overlap nothing, the answer stays: a load
/// in key order needs no groups.
LevelZeroCuts cuts_for_level_zero(const Shape& shape, std::uint64_t memtable_bytes, const LevelZeroCuts& before);

/// Merges the newest runs of level 0 into one in their place if they are many and the older ones are on their way down,
/// which these cannot pass: meanwhile readers have fewer runs to ask. A run that is much larger than a memtable stays
/// as it is. So an entry is rewritten once at most, and the number of runs still grows when level 0 does: there is an
/// end.
std::optional<CompactionPlan> relieve_level_zero(const Shape& shape, const PolicyOptions& options,
                                                 const Admission& admission);

/// As in LevelDB and RocksDB: fewer would rewrite level 1 more often.
inline constexpr std::size_t kUsualRunsOfLevelZero = 4;

/// How many runs of level 0 make it due: two or three are enough if they overwrite 0.18 of what is below, because space
/// counts then, which costs a fifth more writes (docs/decisions/0052).
std::size_t usual_runs_of_level_zero(const Shape& shape, const PolicyOptions& options);

/// From what level 0 overwrites below: 0.5 when that is 0.18 of it, and at most 1.5. Below 0.5 if nothing is due.
double debt_of_overwritten_bytes(const Shape& shape, const PolicyOptions& options);

/// 0 up to `usual` times a memtable in level 0, 1 when `slack` more are there, and at most 1.5: many bytes slow writers
/// and do not stop them. 0 too with fewer than `usual` runs: there is nothing to wait for.
double debt_of_level_zero_bytes(const Shape& shape, const PolicyOptions& options, double usual, double slack);

}  // namespace tamis
