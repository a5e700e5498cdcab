// Which of k runs has the next entry, found again with log2 k comparisons after each step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "entry/entry.h"

namespace tamis {

/// A tournament of runs. Each inner node keeps the loser of the game played there, so that replaying the winner's path
/// compares it once per level; a binary heap compares twice, and touches both children.
///
/// Each contender carries the head of its key. Most games are decided by two integers side by side; only equal
/// heads cost a look at the keys.
///
/// Invariants:
///  1. The winner's entry comes first in the direction of the tree; a run without entry loses against every other.
///  2. Entries of equal position are ordered by run, the smaller number first forwards and last backwards, so that
///     both directions see one and the same order.
///  3. Node n plays the winners of nodes 2n and 2n+1; nodes runs … 2·runs-1 are the runs themselves.
///
/// Threads: one at a time.
class LoserTree {
 public:
  explicit LoserTree(std::size_t runs);

  [[nodiscard]] std::size_t winner() const { return winner_.run; }
  [[nodiscard]] Direction direction() const { return direction_; }
  /// Null when no run has an entry left.
  [[nodiscard]] const Entry* winning_entry() const { return entries_[winner_.run]; }

  /// What run `run` stands on now; null for nothing. Takes effect with the next play_all or replay_winner.
  void set(std::size_t run, const Entry* entry) { entries_[run] = entry; }
  /// Plays every game anew.
  void play_all(Direction direction);
  /// Plays the games of the winner anew, after it alone has moved.
  void replay_winner();

 private:
  struct Contender {
    std::uint64_t head = 0;
    std::size_t run = 0;
  };

  [[nodiscard]] Contender contender(std::size_t run) const;
  [[nodiscard]] bool beats(Contender a, Contender b) const {
    if (a.head != b.head) [[likely]]
      return a.head < b.head;
    return beats_at_equal_heads(a.run, b.run);
  }
  [[nodiscard]] bool beats_at_equal_heads(std::size_t a, std::size_t b) const;

  std::vector<const Entry*> entries_;  // By run.
  std::vector<Contender> losers_;      // By node, from 1.
  std::vector<Contender> winners_;     // By node; used by play_all only, kept for its memory.
  Contender winner_;
  Direction direction_ = Direction::kForwards;
};

}  // namespace tamis
