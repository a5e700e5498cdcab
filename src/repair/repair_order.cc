#include "repair/repair_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace tamis {
namespace {

/// The key range, range deletes included (rule 25), and the sequence range of a group.
struct Extent {
  std::string_view begin;
  KeyEnd end;
  Sequence smallest_sequence = {};
  Sequence largest_sequence = {};

  explicit Extent(const TableGroup& group)
      : begin(group.front()->begin()),
        end(group.front()->end()),
        smallest_sequence(group.front()->smallest_sequence),
        largest_sequence(group.front()->largest_sequence) {
    for (const auto& table : group) {
      begin = std::min(begin, table->begin());
      end = std::max(end, table->end());
      smallest_sequence = std::min(smallest_sequence, table->smallest_sequence);
      largest_sequence = std::max(largest_sequence, table->largest_sequence);
    }
  }
  [[nodiscard]] bool overlaps(const Extent& other) const {
    return !other.end.is_before(begin) && !end.is_before(other.begin);
  }
  [[nodiscard]] bool interleaves(const Extent& other) const {
    return overlaps(other) && smallest_sequence <= other.largest_sequence &&
           other.smallest_sequence <= largest_sequence;
  }
};

/// A disjoint-set forest of groups to merge.
class Forest {
 public:
  explicit Forest(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

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

/// Joins the groups that interleave; false if there were none.
bool join_once(std::vector<TableGroup>& groups) {
  std::vector<Extent> extents;
  extents.reserve(groups.size());
  for (const TableGroup& group : groups) extents.emplace_back(group);
  Forest joined(groups.size());
  bool changed = false;
  for (std::size_t a = 0; a < groups.size(); ++a) {
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      if (extents[a].interleaves(extents[b])) changed |= joined.join(a, b);
    }
  }
  if (!changed) return false;
  std::map<std::size_t, TableGroup> merged;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    TableGroup& into = merged[joined.root(i)];
    into.insert(into.end(), groups[i].begin(), groups[i].end());
  }
  groups.clear();
  for (auto& [root, group] : merged) groups.push_back(std::move(group));
  return true;
}

}  // namespace

std::vector<std::uint64_t> tables_without_replaced(const std::set<std::uint64_t>& numbers,
                                                   const std::map<std::uint64_t, FoundRewrite>& rewrites) {
  std::set<std::uint64_t> kept = numbers;
  std::set<std::uint64_t> there = numbers;  // Possible inputs of an unfinished rewrite: all but replaced tables.
  for (auto rewrite = rewrites.rbegin(); rewrite != rewrites.rend(); ++rewrite) {  // Newest first.
    const auto& [outputs, inputs] = rewrite->second;
    if (inputs.empty()) continue;
    if (std::ranges::all_of(inputs, [&](std::uint64_t input) { return there.contains(input); })) {
      for (const std::uint64_t output : outputs) kept.erase(output);
      continue;
    }
    for (const std::uint64_t input : inputs) {
      kept.erase(input);
      there.erase(input);
    }
  }
  return {kept.begin(), kept.end()};
}

std::vector<std::vector<TableGroup>> in_layers(std::vector<std::shared_ptr<const TableFacts>> tables) {
  std::vector<TableGroup> groups;
  groups.reserve(tables.size());
  for (std::shared_ptr<const TableFacts>& table : tables) groups.push_back({std::move(table)});
  // Merging two tables makes a wider one, which may interleave with a third.
  while (join_once(groups)) {
  }
  std::ranges::sort(groups, {}, [](const TableGroup& group) { return Extent(group).largest_sequence; });
  std::vector<std::vector<TableGroup>> layers;
  for (TableGroup& group : groups) {
    std::ranges::sort(group, std::greater(), &TableFacts::number);
    const Extent extent(group);
    std::size_t above = layers.size();  // Just above the newest layer that it overlaps.
    while (above > 0 && std::ranges::none_of(layers[above - 1],
                                             [&](const TableGroup& other) { return Extent(other).overlaps(extent); })) {
      --above;
    }
    if (above == layers.size()) layers.emplace_back();
    layers[above].push_back(std::move(group));
  }
  for (std::vector<TableGroup>& layer : layers) {
    std::ranges::sort(layer, {}, [](const TableGroup& group) { return Extent(group).begin; });
  }
  return layers;
}

}  // namespace tamis
