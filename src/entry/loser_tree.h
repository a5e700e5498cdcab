// Finds which of k runs has the next entry, with log2 k comparisons per step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "entry/entry.h"

namespace tamis {

/// A tournament of runs. Each inner node keeps its loser, so that replaying the winner's path takes one comparison per
/// level; a binary heap takes two, and touches both children.
///
/// Each contender carries its key's head. Most games compare two adjacent integers; only equal heads require the keys.
///
/// Invariants:
///  1. The winner's entry comes first in the tree's direction; a run without entry loses to every other.
///  2. Entries of equal position are ordered by run, the smaller number first forwards and last backwards, so that
///     both directions see the same order.
///  3. Node n plays the winners of nodes 2n and 2n+1; nodes runs … 2·runs-1 are the runs themselves.
///
/// Threads: one at a time.
class LoserTree {
 public:
  explicit LoserTree(std::size_t runs);

  [[nodiscard]] std::size_t winner() const { return winner_.run; }
  [[nodiscard]] Direction direction() const { return direction_; }
  /// Null if no run has an entry left.
  [[nodiscard]] const Entry* winning_entry() const { return nodes_[winner_.run].entry; }

  /// Sets the current entry of run `run`; null if none. Takes effect with the next play_all or replay_winner.
  void set(std::size_t run, const Entry* entry) { nodes_[run].entry = entry; }
  /// Replays every game.
  void play_all(Direction direction);
  /// Replays the winner's games, after only it has moved.
  void replay_winner() {
    Contender winner = contender(winner_.run);
    for (std::size_t node = (nodes_.size() + winner.run) / 2; node > 0; node /= 2) {
      exchange_if(beats(nodes_[node].loser, winner), nodes_[node].loser, winner);
    }
    winner_ = winner;
  }

 private:
  struct Contender {
    std::uint64_t head = 0;
    std::size_t run = 0;
  };
  /// The data of run i and of node i, side by side.
  struct Node {
    const Entry* entry = nullptr;  // Of run i.
    Contender loser;               // Of node i, from 1.
    Contender winner;              // The same; used by play_all only.
  };

  /// Backwards the head is complemented, so that the smaller one wins either way; a run without entry has the largest.
  [[nodiscard]] Contender contender(std::size_t run) const {
    const Entry* entry = nodes_[run].entry;
    if (entry == nullptr) return {~std::uint64_t{0}, run};
    const std::uint64_t head = key_head(entry->key);
    return {direction_ == Direction::kForwards ? head : ~head, run};
  }
  [[nodiscard]] bool beats(Contender a, Contender b) const {
    if (a.head != b.head) [[likely]]
      return a.head < b.head;
    return beats_at_equal_heads(a.run, b.run);
  }
  /// Branchless: the winner is unpredictable.
  static void exchange_if(bool condition, Contender& a, Contender& b) {
    const std::uint64_t mask = 0 - std::uint64_t{condition};
    const std::uint64_t heads = (a.head ^ b.head) & mask;
    const std::uint64_t runs = (a.run ^ b.run) & mask;
    a.head ^= heads;
    b.head ^= heads;
    a.run ^= runs;
    b.run ^= runs;
  }
  [[nodiscard]] bool beats_at_equal_heads(std::size_t a, std::size_t b) const;
  /// The winner of a node or, from `runs` on, of a run.
  [[nodiscard]] Contender winner_of(std::size_t node) const {
    return node < nodes_.size() ? nodes_[node].winner : contender(node - nodes_.size());
  }

  std::vector<Node> nodes_;
  Contender winner_;
  Direction direction_ = Direction::kForwards;
};

}  // namespace tamis
