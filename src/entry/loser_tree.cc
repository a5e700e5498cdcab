#include "entry/loser_tree.h"

#include <compare>
#include <utility>

#include "base/check.h"

namespace tamis {

LoserTree::LoserTree(std::size_t runs) : entries_(runs), losers_(runs), winners_(2 * runs) { TAMIS_CHECK(runs > 0); }

void LoserTree::play_all(Direction direction) {
  direction_ = direction;
  const std::size_t runs = entries_.size();
  for (std::size_t run = 0; run < runs; ++run) winners_[runs + run] = contender(run);
  for (std::size_t node = runs - 1; node > 0; --node) {
    Contender first = winners_[2 * node];
    Contender second = winners_[2 * node + 1];
    if (beats(second, first)) std::swap(first, second);
    winners_[node] = first;
    losers_[node] = second;
  }
  winner_ = winners_[1];
}

void LoserTree::replay_winner() {
  Contender winner = contender(winner_.run);
  for (std::size_t node = (entries_.size() + winner.run) / 2; node > 0; node /= 2) {
    if (beats(losers_[node], winner)) std::swap(losers_[node], winner);
  }
  winner_ = winner;
}

/// Backwards the head is complemented, so that the smaller one wins either way; a run without entry has the largest.
LoserTree::Contender LoserTree::contender(std::size_t run) const {
  const Entry* entry = entries_[run];
  if (entry == nullptr) return {~std::uint64_t{0}, run};
  const std::uint64_t head = key_head(entry->key);
  return {direction_ == Direction::kForwards ? head : ~head, run};
}

bool LoserTree::beats_at_equal_heads(std::size_t a, std::size_t b) const {
  const Entry* first = entries_[a];
  const Entry* second = entries_[b];
  if (first == nullptr || second == nullptr) return first != nullptr;
  std::strong_ordering order = first->position() <=> second->position();
  if (std::is_eq(order)) order = a <=> b;
  return direction_ == Direction::kForwards ? std::is_lt(order) : std::is_gt(order);
}

}  // namespace tamis
