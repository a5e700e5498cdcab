// Deduplication.
#pragma once

#include <algorithm>
#include <span>

namespace tamis {

/// Sorts in place and returns the prefix that holds each value once.
template <typename T>
std::span<T> sort_and_drop_copies(std::span<T> values) {
  std::sort(values.begin(), values.end());
  return {values.begin(), std::unique(values.begin(), values.end())};
}

}  // namespace tamis
