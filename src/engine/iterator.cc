#include "tamis/iterator.h"

#include <utility>

#include "engine/iterator_state.h"
#include "engine/never_throws.h"
#include "engine/tracked_iterator.h"
#include "entry/capped_iterator.h"
#include "entry/merging_iterator.h"
#include "entry/uncovered_iterator.h"

namespace tamis {

void IteratorState::walk_over(KeyRange range, const ScanOptions& options) {
  std::unique_ptr<EntryIterator> source = merged(range, options);
  walk_.emplace(std::move(source), scan_->moment(), std::move(range), scan_->values_apart(), merge_operator_,
                store_->is_follower() ? nullptr : &scan_->watch());
  begin_walk(options);
}

/// Its own writes are one more run, newer than those of the store up to the snapshot. All that the store has is older
/// than its own range deletes.
void IteratorState::walk_over(KeyRange range, const ScanOptions& options, const TransactionLayer& layer) {
  std::unique_ptr<EntryIterator> source = merged(range, options);
  const Moment& moment = scan_->moment();
  if (layer.own != nullptr) {
    std::vector<std::unique_ptr<EntryIterator>> runs;
    Uncovered by_own{.moment = layer.last_own, .stepped = scan_->watch().count_steps()};
    if (layer.own->has_range_deletes()) by_own.deletes = &layer.own->range_deletes();
    iterate_uncovered(*layer.own, by_own, runs);
    runs.push_back(std::make_unique<CappedIterator>(std::move(source), moment.sequence));
    if (by_own.deletes != nullptr) {
      runs.back() = std::make_unique<UncoveredIterator>(std::move(runs.back()), by_own, moment.sequence);
    }
    source = make_merging_iterator(std::move(runs));
    own_ = layer.own;
  }
  if (layer.reads != nullptr) {
    source = std::make_unique<TrackedIterator>(std::move(source), layer.reads, layer.keyspace, range);
  }
  const Sequence last = layer.own != nullptr ? layer.last_own : moment.sequence;
  walk_.emplace(std::move(source), Moment{last, moment.time}, std::move(range), scan_->values_apart(), merge_operator_);
  begin_walk(options);
}

void IteratorState::begin_walk(const ScanOptions& options) {
  is_reverse_ = options.reverse;
  if (!options.positioned) return;
  is_reverse_ ? walk_->seek_to_last() : walk_->seek_to_first();
}

/// The store was closed, or the iteration never began.
void IteratorState::end_walk() {
  if (!walk_) return;
  status_ = store_->check_open();
  if (is_of_another_process()) leave_to_parent(std::move(walk_));
  walk_.reset();
}

namespace {

/// Moves the iteration, if there is one and its store is open.
template <typename Move>
void move_walk(const std::unique_ptr<IteratorState>& state, Move move) {
  never_throws([&] {
    if (state != nullptr && state->may_move()) move(*state->walk());
  });
}

}  // namespace

Iterator::Iterator() noexcept = default;
Iterator::Iterator(std::unique_ptr<IteratorState> state) : state_(std::move(state)) {}
Iterator::Iterator(Iterator&&) noexcept = default;
Iterator& Iterator::operator=(Iterator&& other) noexcept {
  Iterator taken(std::move(other));
  std::swap(state_, taken.state_);
  return *this;
}
Iterator::~Iterator() {
  if (state_ != nullptr && state_->is_of_another_process()) leave_to_parent(std::move(state_));
}

bool Iterator::valid() const { return state_ != nullptr && state_->walk() != nullptr && state_->walk()->valid(); }
std::string_view Iterator::key() const { return valid() ? state_->walk()->key() : std::string_view(); }
std::string_view Iterator::value() const { return valid() ? state_->walk()->value() : std::string_view(); }
std::optional<ExpiryTime> Iterator::expires_at() const {
  const std::uint64_t due = valid() ? state_->walk()->due() : 0;
  return due == 0 ? std::nullopt : std::optional(ExpiryTime(std::chrono::milliseconds(due)));
}
const Status& Iterator::status() const {
  if (state_ != nullptr) [[likely]]
    return state_->status();
  // Never destroyed: an iterator may be used while static objects are destroyed.
  static const Status& no_store = *new Status(Status::closed("this iterator belongs to no store"));
  return no_store;
}

void Iterator::advance() {
  if (state_ != nullptr && state_->is_reverse()) return previous();
  next();
}
void Iterator::next() {
  move_walk(state_, [](VisibleIterator& walk) {
    if (walk.valid()) walk.next();
  });
}
void Iterator::previous() {
  move_walk(state_, [](VisibleIterator& walk) {
    if (walk.valid()) walk.previous();
  });
}
void Iterator::seek(std::string_view key) {
  move_walk(state_,
            [&](VisibleIterator& walk) { state_->is_reverse() ? walk.seek_at_or_before(key) : walk.seek(key); });
}
void Iterator::seek_before(std::string_view key) {
  move_walk(state_, [&](VisibleIterator& walk) { walk.seek_before(key); });
}
void Iterator::seek_to_first() {
  move_walk(state_, [](VisibleIterator& walk) { walk.seek_to_first(); });
}
void Iterator::seek_to_last() {
  move_walk(state_, [](VisibleIterator& walk) { walk.seek_to_last(); });
}

}  // namespace tamis
