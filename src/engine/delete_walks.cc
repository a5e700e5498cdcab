#include "engine/delete_walks.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/epoch.h"
#include "engine/scan_source.h"
#include "entry/entry_iterator.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxWanted = std::uint64_t{1} << 16;
constexpr std::uint64_t kStepsBetweenLooks = 256;
/// From the cache, or the kernel's, it takes less than a tenth; in a checked build, nobody knows.
#ifdef TAMIS_INVARIANTS
constexpr auto kSlowForADelete = std::chrono::seconds(1);
#else
constexpr auto kSlowForADelete = std::chrono::microseconds(2);
#endif

/// From the beginning of a range up to the first key that has a value.
class EmptyWalk {
 public:
  EmptyWalk(ScanSource& scan, const KeyRange& range, EmptyRanges& known)
      : range_(range), moment_(scan.moment()), source_(scan.merged(range, {}, known, false)) {
    source_->seek({range.from, moment_.sequence});
  }

  /// To the end of the range, to a key with a value, or until `may_go_on` says no.
  template <typename MayGoOn>
  void go_on(MayGoOn may_go_on) {
    for (; source_->valid(); source_->step()) {
      const Entry& entry = source_->entry();
      if (range_.ends_before(entry.key)) break;
      if (++steps_ % kStepsBetweenLooks == 0 && !may_go_on(steps_)) return stop_at(entry.key);
      std::string_view value;
      const Visible here = visible(entry, moment_, value);
      if (here == Visible::kNewer || (deleted_ && entry.key == *deleted_)) continue;
      if (here != Visible::kDeleted) {
        has_value_ = true;
        return stop_at(entry.key);
      }
      deleted_ ? deleted_->assign(entry.key) : deleted_.emplace(entry.key);
    }
    if (!source_->status().ok()) return stop_at(range_.from);
    is_whole_ = true;
    empty_ = range_;
  }

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] bool has_value() const { return has_value_; }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  /// None: nothing is known to be.
  [[nodiscard]] const std::optional<KeyRange>& empty() const { return empty_; }

 private:
  void stop_at(std::string_view key) {
    if (key > range_.from) empty_ = KeyRange{range_.from, std::string(key)};
  }

  const KeyRange& range_;
  const Moment moment_;
  const std::unique_ptr<EntryIterator> source_;
  std::optional<std::string> deleted_;  // The last deleted key.
  std::uint64_t steps_ = 0;
  bool is_whole_ = false;
  bool has_value_ = false;
  std::optional<KeyRange> empty_;
};

}  // namespace

void DeleteWalks::hand_over() {
  const MutexLock lock(mutex_);
  if (!std::exchange(told_.is_handed_over, true)) {
    ++stretch_;
    keyspace_ = told_.keyspace;
    from_ = told_.from;
    deletes_ = 0;
  }
  last_ = told_.last;
  deletes_ += std::exchange(told_.deletes, 0);
  set_due();
}

void DeleteWalks::walk() {
  const std::optional<Walk> due = begin();
  if (due) end(*due, walk_over(*due));
}

std::optional<DeleteWalks::Walk> DeleteWalks::begin() {
  const MutexLock lock(mutex_);
  if (is_walking_ || deletes_ < wanted_) return std::nullopt;
  is_walking_ = true;
  Walk walk{stretch_, keyspace_, {from_, last_}, std::exchange(deletes_, 0)};
  walk.range.to->push_back('\0');
  set_due();
  return walk;
}

DeleteWalks::Walked DeleteWalks::walk_over(const Walk& walk) {
  const std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(walk.keyspace);
  if (keyspace == nullptr) return {};
  const auto begin = std::chrono::steady_clock::now();
  std::optional<ScanSource> scan;
  {
    const EpochGuard guard;
    const auto [view, sequence] =
        keyspace->tree.view().peek_whole_at([&] { return keyspace->reader.sequence_for(nullptr); });
    scan.emplace(view, walk.keyspace, keyspace->reader.moment_for(nullptr, sequence));
  }
  EmptyWalk over(*scan, walk.range, empty_ranges_);
  const std::uint64_t may_take = walk.deletes * kStepsOfADelete + kStepsBetweenLooks;
  over.go_on([&](std::uint64_t steps) { return steps < std::min(may_take, kMaxSteps) && !health_.is_closing(); });
  Walked walked{.steps = over.steps()};
  walked.is_slow = std::chrono::steady_clock::now() - begin > walk.deletes * kSlowForADelete;
  if (!over.empty() || !empty_ranges_.add({walk.keyspace, *over.empty(), scan->moment()})) return walked;
  if (!over.has_value() && walked.steps < may_take) walked.end = over.is_whole() ? End::kWhole : End::kEarly;
  return walked;
}

void DeleteWalks::end(const Walk& walk, const Walked& walked) {
  const MutexLock lock(mutex_);
  is_walking_ = false;
  const bool waits_longer = walked.end == End::kInVain || walked.is_slow;
  wanted_ = waits_longer ? std::min(2 * wanted_, kMaxWanted) : kMinDeletes;
  if (walk.stretch == stretch_) {
    if (walked.end == End::kInVain) from_ = *walk.range.to;
    if (walked.end == End::kEarly) {
      deletes_ += walk.deletes - std::min(walk.deletes, walked.steps / kStepsOfADelete);
    }
  }
  set_due();
}

}  // namespace tamis
