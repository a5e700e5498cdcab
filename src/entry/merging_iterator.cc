#include "entry/merging_iterator.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "entry/entry_room.h"
#include "entry/loser_tree.h"
#include "entry/vector_iterator.h"

namespace tamis {
namespace {

/// Forwards it merges several entries at a time into its own array, while the runs have them ready: so the consumer
/// steps without a call, and keys already passed stay valid.
///
/// Invariants, while valid:
///  1. The tree's winner is the run of the last ready entry: the one shown, if no entry is ready after it.
///  2. Every other run is on its first entry after that one in the tree's direction, or on none.
///  3. Runs move within what they have ready, except when none is ready here: what entries_ points to is alive.
///
/// Threads: as EntryIterator.
class MergingIterator final : public EntryIterator {
 public:
  explicit MergingIterator(std::vector<std::unique_ptr<EntryIterator>>&& runs)
      : runs_(std::move(runs)), tree_(runs_.size()) {}

  void seek(EntryPosition target) override {
    for (const auto& run : runs_) run->prepare_seek(target);
    for (const auto& run : runs_) run->seek(target);
    start(Direction::kForwards);
  }
  void seek_backwards(EntryPosition target) override {
    for (const auto& run : runs_) run->seek_backwards(target);
    start(Direction::kBackwards);
  }
  void seek_to_first() override {
    for (const auto& run : runs_) run->seek_to_first();
    start(Direction::kForwards);
  }
  void seek_to_last() override {
    for (const auto& run : runs_) run->seek_to_last();
    start(Direction::kBackwards);
  }

  void next() override {
    TAMIS_INVARIANT(valid());
    if (has_ready()) return step();
    if (tree_.direction() != Direction::kForwards && !turn_forwards()) return;
    runs_[tree_.winner()]->step();
    if (!take(tree_.winner())) return;
    tree_.replay_winner();
    merge_some();
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    if (has_ready() && !forget_ready()) return;
    if (tree_.direction() != Direction::kBackwards && !turn_backwards()) return;
    runs_[tree_.winner()]->previous();
    if (!take(tree_.winner())) return;
    tree_.replay_winner();
    show_winner();
  }

 private:
  static constexpr std::size_t kMaxReady = 8;

  void start(Direction direction);
  void merge_some();
  bool forget_ready();
  bool turn_forwards();
  bool turn_backwards();
  bool take_all();
  bool take(std::size_t run);
  void show_winner();

  std::vector<std::unique_ptr<EntryIterator>> runs_;
  LoserTree tree_;
  std::size_t ready_ = 1;  // How many to merge at a time.
  std::size_t count_ = 0;  // How many of entries_ were merged.
  EntryRoom<kMaxReady> entries_;
  std::array<std::size_t, kMaxReady> runs_of_entries_ = {};
};

/// Call after moving every run.
void MergingIterator::start(Direction direction) {
  ready_ = 1;
  if (!take_all()) return;
  tree_.play_all(direction);
  show_winner();
}

/// Merges from the winner on, forwards; twice as many as last time.
void MergingIterator::merge_some() {
  const Entry* winning = tree_.winning_entry();
  if (winning == nullptr) return show_end();
  ready_ = std::min(2 * ready_, kMaxReady);
  count_ = 0;
  for (;;) {
    const std::size_t winner = tree_.winner();
    entries_[count_] = *winning;
    runs_of_entries_[count_++] = winner;
    EntryIterator& run = *runs_[winner];
    if (count_ == ready_ || !run.has_ready()) break;
    run.step();
    tree_.set(winner, &run.entry());
    tree_.replay_winner();
    winning = tree_.winning_entry();
  }
  show_ready(entries_.data(), &entries_[count_ - 1]);
}

/// Undoes the steps from the shown entry to the last ready one.
bool MergingIterator::forget_ready() {
  const auto shown = static_cast<std::size_t>(&entry() - entries_.data());
  for (std::size_t i = count_ - 1; i > shown; --i) {
    EntryIterator& stepped = *runs_[runs_of_entries_[i - 1]];
    stepped.previous();
    if (!stepped.valid()) break;  // It failed.
  }
  if (!take_all()) return false;
  tree_.play_all(Direction::kForwards);
  TAMIS_INVARIANT(tree_.winner() == runs_of_entries_[shown]);
  show_winner();
  return true;
}

/// Moves all runs but the winner from before the shown entry to after it. Of entries at exactly the same position,
/// those of newer runs come before the shown one, those of older runs after it (LoserTree's invariant 2).
bool MergingIterator::turn_forwards() {
  const EntryPosition here = entry().position();
  const std::size_t winner = tree_.winner();
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (run == winner) continue;
    EntryIterator& other = *runs_[run];
    other.seek(here);
    while (run < winner && other.valid() && other.entry().position() == here) other.next();
  }
  if (!take_all()) return false;
  tree_.play_all(Direction::kForwards);
  TAMIS_INVARIANT(tree_.winner() == winner);
  return true;
}

bool MergingIterator::turn_backwards() {
  const EntryPosition here = entry().position();
  const std::size_t winner = tree_.winner();
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (run == winner) continue;
    EntryIterator& other = *runs_[run];
    other.seek_backwards(here);
    while (run > winner && other.valid() && other.entry().position() == here) other.previous();
  }
  if (!take_all()) return false;
  tree_.play_all(Direction::kBackwards);
  TAMIS_INVARIANT(tree_.winner() == winner);
  return true;
}

bool MergingIterator::take_all() {
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (!take(run)) return false;
  }
  return true;
}

/// Tells the tree a run's current entry. False: the run failed, and with it the merge.
bool MergingIterator::take(std::size_t run) {
  const EntryIterator& moved = *runs_[run];
  if (moved.valid()) [[likely]] {
    tree_.set(run, &moved.entry());
    return true;
  }
  if (!moved.status().ok()) {
    show_error(moved.status());
    return false;
  }
  tree_.set(run, nullptr);
  return true;
}

void MergingIterator::show_winner() {
  if (const Entry* first = tree_.winning_entry(); first != nullptr) {
    show(*first);
  } else {
    show_end();
  }
}

}  // namespace

std::unique_ptr<EntryIterator> make_merging_iterator(std::vector<std::unique_ptr<EntryIterator>>&& runs) {
  if (runs.empty()) return std::make_unique<VectorIterator>(std::span<const Entry>());
  if (runs.size() == 1) return std::move(runs.front());
  return std::make_unique<MergingIterator>(std::move(runs));
}

}  // namespace tamis
