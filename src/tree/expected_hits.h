// Predicts whether a lookup will find its key.
#pragma once

#include <cstdint>

namespace tamis {

/// Predicts, from a thread's previous lookups, whether the next one finds its key in a table. If so, it need not wait
/// for a filter (docs/decisions/0020, 0024). A wrong prediction costs time, never correctness. A thread that looks up
/// absent keys pays nothing.
///
/// Threads: each has its own.
class ExpectedHits {
 public:
  /// After one hit, a lookup prefetches what a hit needs before the filter answers.
  static bool prefetch() { return in_a_row_ > 0; }
  /// After kBeforeFilters hits, a filter is asked only if the key was not found.
  static bool replace_filters() { return in_a_row_ >= kBeforeFilters; }

  static void add_hits(std::uint32_t hits) { in_a_row_ += hits; }
  static void add_miss() { in_a_row_ = 0; }

 private:
  static constexpr std::uint32_t kBeforeFilters = 8;
  static inline constinit thread_local std::uint32_t in_a_row_ = 0;
};

}  // namespace tamis
