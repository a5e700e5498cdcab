// Which value files to rewrite, and when pointers are merged: pure functions of the shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compaction/claims.h"
#include "compaction/policy.h"
#include "tree/shape.h"

namespace tamis {

/// The next plan that bounds what value files hold besides live values, or nothing if the bound holds:
///
///  1. Known garbage, to which no table points, is at most a ninth of all value files. Beyond that, the oldest files of
///     which more than a ninth is garbage are rewritten: the tables that point into them are rewritten in their places,
///     run by run, and the values are copied.
///  2. Hidden garbage, to which only pointers of older runs point that newer ones overwrite, is at most a tenth of what
///     the oldest run points to. Beyond that, all runs are merged, if they are smaller than the values in newer runs.
///
/// Together at most 1.25 × live bytes (docs/decisions/0043). `damaged` are files with values that cannot be copied,
/// ascending; they are left alone. Executing all plans terminates.
std::optional<CompactionPlan> pick_values(const Shape& shape, std::span<const std::uint64_t> damaged,
                                          const Admission& admission = {});

/// The value files that nothing points into after the edit; `edit` removes tables.
std::vector<std::uint64_t> unused_values(const Shape& shape, const ShapeEdit& edit);

}  // namespace tamis
