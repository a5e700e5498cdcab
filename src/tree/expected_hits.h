// Guessing whether a lookup will find its key.
#pragma once

#include <cstdint>

namespace tamis {

/// Whether the next lookup of this thread is likely to find its key in a table, judged by those before it: then it need
/// not wait for a filter to say so (docs/decisions/0020, 0024). A wrong guess costs time and never an answer. A thread
/// that asks for absent keys pays nothing.
///
/// Threads: each has its own.
class ExpectedHits {
 public:
  /// After one hit, what a hit needs is fetched before the filter has answered.
  static bool prefetch() { return in_a_row_ > 0; }
  /// After this many, a filter is asked only where the key was not found.
  static bool replace_filters() { return in_a_row_ >= kBeforeFilters; }

  static void add_hits(std::uint32_t hits) { in_a_row_ += hits; }
  static void add_miss() { in_a_row_ = 0; }

 private:
  static constexpr std::uint32_t kBeforeFilters = 8;
  static inline constinit thread_local std::uint32_t in_a_row_ = 0;
};

}  // namespace tamis
