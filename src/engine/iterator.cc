#include "tamis/iterator.h"

#include <utility>

#include "base/try.h"
#include "engine/iterator_state.h"
#include "engine/never_throws.h"
#include "engine/tracked_iterator.h"
#include "entry/capped_iterator.h"
#include "entry/merging_iterator.h"
#include "entry/uncovered_iterator.h"

namespace tamis {

namespace {

/// Reads from the value files of a version, which outlives it.
class ValuesOfVersion final : public ApartValues {
 public:
  explicit ValuesOfVersion(const Version& version) : version_(version) {}

  Status read(std::string_view key, std::string_view pointer, std::string& to) override {
    TAMIS_TRY(const ValueRead read, version_.begin_value(key, pointer, to));
    return read.file->read(read.pointer, key, to);
  }

 private:
  const Version& version_;
};

/// Split, so that most of the entries that the newest range delete hides are passed by one seek.
void iterate(const Memtable& memtable, const Uncovered& uncovered, std::vector<std::unique_ptr<EntryIterator>>& runs) {
  if (uncovered.deletes == nullptr) [[likely]]
    return runs.push_back(memtable.iterate());
  if (memtable.entries() == 0) return;
  for (SplitEntries& part : memtable.iterate_split(uncovered.deletes->newest(uncovered.moment))) {
    runs.push_back(std::make_unique<UncoveredIterator>(std::move(part.iterator), uncovered, part.newest));
  }
}

}  // namespace

void IteratorState::walk_over(KeyRange range, const ScanOptions& options) {
  std::unique_ptr<EntryIterator> source = merged(range, options);
  walk_.emplace(std::move(source), moment_, std::move(range), values_apart(), merge_operator_,
                store_->is_follower() ? nullptr : &*watch_);
  begin_walk(options.reverse);
}

/// Its own writes are one more run, newer than those of the store up to the snapshot. All that the store has is older
/// than its own range deletes.
void IteratorState::walk_over(KeyRange range, const ScanOptions& options, const TransactionLayer& layer) {
  std::unique_ptr<EntryIterator> source = merged(range, options);
  if (layer.own != nullptr) {
    std::vector<std::unique_ptr<EntryIterator>> runs;
    Uncovered by_own{.moment = layer.last_own, .stepped = watch_->count_steps()};
    if (layer.own->has_range_deletes()) by_own.deletes = &layer.own->range_deletes();
    iterate(*layer.own, by_own, runs);
    runs.push_back(std::make_unique<CappedIterator>(std::move(source), moment_.sequence));
    if (by_own.deletes != nullptr) {
      runs.back() = std::make_unique<UncoveredIterator>(std::move(runs.back()), by_own, moment_.sequence);
    }
    source = make_merging_iterator(std::move(runs));
    own_ = layer.own;
  }
  if (layer.reads != nullptr) {
    source = std::make_unique<TrackedIterator>(std::move(source), layer.reads, layer.keyspace, range);
  }
  const Sequence last = layer.own != nullptr ? layer.last_own : moment_.sequence;
  walk_.emplace(std::move(source), Moment{last, moment_.time}, std::move(range), values_apart(), merge_operator_);
  begin_walk(options.reverse);
}

std::unique_ptr<EntryIterator> IteratorState::merged(const KeyRange& range, const ScanOptions& options) {
  bool has_range_deletes = version_->range_deletes() != nullptr;
  if (has_range_deletes) version_->range_deletes()->read_again();
  for (const std::shared_ptr<Memtable>& memtable : memtables_) has_range_deletes |= memtable->has_range_deletes();
  EmptyRanges& empty_ranges = store_->empty_ranges();
  watch_.emplace(empty_ranges, keyspace_, moment_, options.fills_cache);
  Uncovered uncovered{.moment = moment_.sequence};
  if (has_range_deletes || !empty_ranges.empty()) [[unlikely]] {
    SharedEmptyRanges empty;
    if (!empty_ranges.empty()) empty = empty_ranges.known(keyspace_, range, moment_);
    if (has_range_deletes || !empty.empty()) {
      uncovered.deletes = &range_deletes_.emplace(memtables_, *version_, std::move(empty));
      uncovered.stepped = watch_->count_steps();
    }
  }
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const std::shared_ptr<Memtable>& memtable : memtables_) iterate(*memtable, uncovered, runs);
  version_->iterate(range, options.prefix, ScanCaching(watch_->fills_cache()), uncovered, runs);
  return make_merging_iterator(std::move(runs));
}

/// Null in a tree without value files.
std::unique_ptr<ApartValues> IteratorState::values_apart() const {
  if (version_->value_files().empty()) return nullptr;
  return std::make_unique<ValuesOfVersion>(*version_);
}

void IteratorState::begin_walk(bool is_reverse) {
  is_reverse_ = is_reverse;
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
