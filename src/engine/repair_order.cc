#include "engine/repair_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tamis {
namespace {

bool interleave(const TableFacts& a, const TableFacts& b) {
  return a.overlaps(b.smallest_key, b.largest_key) && a.smallest_sequence <= b.largest_sequence &&
         b.smallest_sequence <= a.largest_sequence;
}

/// Sets of tables that must be merged, as a forest.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  bool join(std::size_t a, std::size_t b) {
    a = root(a);
    b = root(b);
    parent_[a] = b;
    return a != b;
  }

 private:
  std::vector<std::size_t> parent_;
};

/// The bounds of a whole group, as if it were one table.
TableFacts bounds_of(const std::vector<std::shared_ptr<const TableFacts>>& tables) {
  TableFacts bounds = *tables.front();
  for (const auto& table : tables) {
    bounds.smallest_key = std::min(bounds.smallest_key, table->smallest_key);
    bounds.largest_key = std::max(bounds.largest_key, table->largest_key);
    bounds.smallest_sequence = std::min(bounds.smallest_sequence, table->smallest_sequence);
    bounds.largest_sequence = std::max(bounds.largest_sequence, table->largest_sequence);
  }
  return bounds;
}

}  // namespace

std::vector<std::uint64_t> tables_without_replaced(
    const std::set<std::uint64_t>& numbers, const std::map<std::uint64_t, std::vector<std::uint64_t>>& replaces) {
  std::set<std::uint64_t> kept = numbers;
  for (auto output = replaces.rbegin(); output != replaces.rend(); ++output) {  // Newest rewrite first.
    const std::vector<std::uint64_t>& inputs = output->second;
    if (inputs.empty() || !numbers.contains(output->first)) continue;
    if (std::ranges::all_of(inputs, [&](std::uint64_t input) { return numbers.contains(input); })) {
      kept.erase(output->first);
    } else {
      for (const std::uint64_t input : inputs) kept.erase(input);
    }
  }
  return {kept.begin(), kept.end()};
}

/// Merging two tables makes a wider one, which may interleave with a third: repeated until nothing changes.
std::vector<std::vector<std::shared_ptr<const TableFacts>>> in_order(
    std::vector<std::shared_ptr<const TableFacts>> tables) {
  std::vector<std::vector<std::shared_ptr<const TableFacts>>> groups;
  for (std::shared_ptr<const TableFacts>& table : tables) groups.push_back({std::move(table)});
  while (true) {
    std::vector<TableFacts> bounds;
    for (const auto& group : groups) bounds.push_back(bounds_of(group));
    Groups joined(groups.size());
    bool changed = false;
    for (std::size_t a = 0; a < groups.size(); ++a) {
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        if (interleave(bounds[a], bounds[b])) changed |= joined.join(a, b);
      }
    }
    if (!changed) break;
    std::map<std::size_t, std::vector<std::shared_ptr<const TableFacts>>> merged;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      auto& into = merged[joined.root(i)];
      into.insert(into.end(), groups[i].begin(), groups[i].end());
    }
    groups.clear();
    for (auto& [root, group] : merged) groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const auto& group) { return bounds_of(group).largest_sequence; });
  for (auto& group : groups) std::ranges::sort(group, std::greater(), &TableFacts::number);
  return groups;
}

}  // namespace tamis
