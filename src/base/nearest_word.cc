#include "base/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tamis {
namespace {

/// How many characters to insert, drop or replace to turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  const std::size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  std::size_t nearest = std::max(letters / 3, std::size_t{2}) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= nearest) continue;
    best = candidate;
    nearest = distance;
  }
  return best;
}

}  // namespace tamis
