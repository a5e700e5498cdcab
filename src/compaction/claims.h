// Which plans may be executed at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "compaction/plan_parts.h"
#include "compaction/policy.h"
#include "entry/key_range.h"
#include "tree/shape.h"

namespace tamis {

/// Where a plan reads and writes: from its newest run to its oldest, the output included, and from its first key to its
/// last.
struct PlanReach {
  RunAge newest = {};
  RunAge oldest = {};
  KeyRange keys = {};

  /// Whether both may touch the same keys in the same runs.
  [[nodiscard]] bool meets(const PlanReach& other) const;
};

PlanReach reach_of(const Shape& shape, const CompactionPlan& plan);

/// What the running compactions of one tree have claimed.
///
/// Invariant: no two of them meet (rule 47). Entries of a key stay within the ages of the plan that moves them, so
/// compactions that do not meet change neither each other's inputs nor the order of ages, whichever ends first.
///
/// Threads: one at a time.
class Claims {
 public:
  using Id = std::uint64_t;

  /// The plan does not meet those that run.
  Id begin(const Shape& shape, const CompactionPlan& plan);
  void end(Id id);
  [[nodiscard]] bool empty() const { return running_.empty(); }
  /// Whether a running compaction rewrites the table.
  [[nodiscard]] bool has(std::uint64_t table) const { return tables_.contains(table); }
  [[nodiscard]] bool has_any_of(const Run& run) const;
  [[nodiscard]] bool meets(const PlanReach& reach) const;

  /// A plan that must wait for running ones: until it begins, nothing begins that would make it wait longer.
  void reserve(std::optional<PlanReach> reach) { reserved_ = std::move(reach); }
  [[nodiscard]] const std::optional<PlanReach>& reserved() const { return reserved_; }

 private:
  struct Running {
    PlanReach reach;
    std::vector<std::uint64_t> tables;
  };

  std::map<Id, Running> running_;
  std::unordered_set<std::uint64_t> tables_;  // Of all of them.
  std::optional<PlanReach> reserved_;
  Id next_ = 1;
};

/// One choice of the next plan beside those that run. Without claims, everything is free.
///
/// Threads: one at a time.
class Admission {
 public:
  Admission() = default;
  explicit Admission(const Claims& claims) : claims_(&claims) {}

  [[nodiscard]] bool is_free(const TableFacts& table) const {
    return claims_ == nullptr || !claims_->has(table.number);
  }
  /// The runs of a level that no compaction is rewriting, from the oldest or from the newest up to the first that one
  /// is. Newest first.
  [[nodiscard]] std::span<const Run> oldest_free(const Shape& shape, std::uint32_t level) const;
  [[nodiscard]] std::span<const Run> newest_free(const Shape& shape, std::uint32_t level) const;

  /// Whether the plan may begin now.
  [[nodiscard]] bool admits(const Shape& shape, const CompactionPlan& plan) const;
  /// The plan if it may begin now. Otherwise it is put off: it is more urgent than those that are considered from now
  /// on, and they must not delay it.
  std::optional<CompactionPlan> admit_or_put_off(const Shape& shape, CompactionPlan plan);

 private:
  const Claims* claims_ = nullptr;
  std::vector<PlanReach> put_off_;  // Due, and more urgent than what is asked for next.
};

}  // namespace tamis
