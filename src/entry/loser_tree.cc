#include "entry/loser_tree.h"

#include <compare>

#include "base/check.h"

namespace tamis {
namespace {

/// For keys with equal heads. Most keys that differ do so in the next eight bytes; most that do not end there.
std::strong_ordering compare_behind_heads(std::string_view a, std::string_view b) {
  constexpr std::size_t kHead = sizeof(std::uint64_t);
  if (a.size() >= 2 * kHead && b.size() >= 2 * kHead) [[likely]] {
    const auto first = load_be<std::uint64_t>(a.data() + kHead);
    const auto second = load_be<std::uint64_t>(b.data() + kHead);
    if (first != second) return first <=> second;
    if (a.size() == 2 * kHead || b.size() == 2 * kHead) return a.size() <=> b.size();
  }
  return a.compare(b) <=> 0;
}

}  // namespace

LoserTree::LoserTree(std::size_t runs) : nodes_(runs) { TAMIS_CHECK(runs > 0); }

void LoserTree::play_all(Direction direction) {
  direction_ = direction;
  for (std::size_t node = nodes_.size() - 1; node > 0; --node) {
    Contender first = winner_of(2 * node);
    Contender second = winner_of(2 * node + 1);
    if (beats(second, first)) std::swap(first, second);
    nodes_[node].winner = first;
    nodes_[node].loser = second;
  }
  winner_ = winner_of(1);
}

bool LoserTree::beats_at_equal_heads(std::size_t a, std::size_t b) const {
  const Entry* first = nodes_[a].entry;
  const Entry* second = nodes_[b].entry;
  if (first == nullptr || second == nullptr) return first != nullptr;
  std::strong_ordering order = compare_behind_heads(first->key, second->key);
  if (std::is_eq(order)) order = second->sequence <=> first->sequence;
  if (std::is_eq(order)) order = a <=> b;
  return direction_ == Direction::kForwards ? std::is_lt(order) : std::is_gt(order);
}

}  // namespace tamis
