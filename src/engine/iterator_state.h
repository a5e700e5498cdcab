// The implementation of Iterator.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/live_handles.h"
#include "engine/read_set.h"
#include "engine/store.h"
#include "engine/view_range_deletes.h"
#include "entry/visible_iterator.h"
#include "memtable/memtable.h"
#include "tamis/caller.h"
#include "tree/version.h"

namespace tamis {

/// What a transaction adds to a scan.
struct TransactionLayer {
  Sequence last_own = {};          ///< Of its own writes.
  std::shared_ptr<Memtable> own;   ///< Its writes to the keyspace; null: none.
  std::shared_ptr<ReadSet> reads;  ///< Gets what the scan reads; null: that is not needed.
  KeyspaceId keyspace = {};
};

/// An iteration, and the memtables and the version that it reads.
///
/// Threads: one at a time.
class IteratorState {
 public:
  /// An iteration that could not begin.
  IteratorState(std::shared_ptr<Store> store, Status why) : store_(std::move(store)), status_(std::move(why)) {}
  /// The view has all entries up to the moment.
  IteratorState(std::shared_ptr<Store> store, const ReadView& view, Moment moment, Caller caller,
                const OpenKeyspace& keyspace)
      : store_(std::move(store)),
        moment_(moment),
        keyspace_(keyspace.id()),
        version_(view.version),
        merge_operator_(keyspace.merge_operator.load(std::memory_order_acquire)) {
    store_->live_handles().add(handle_.emplace(LiveHandle{.kind = "iterator", .caller = caller}));
    keep(view.active);
    for (const std::shared_ptr<Memtable>& sealed : view.sealed) keep(sealed);
  }
  ~IteratorState() {
    walk_.reset();
    if (handle_) store_->live_handles().remove(*handle_);
  }
  IteratorState(const IteratorState&) = delete;
  IteratorState& operator=(const IteratorState&) = delete;

  /// Begins at the first key of the range, in the direction of the scan.
  void walk_over(KeyRange range, const ScanOptions& options);
  /// The same in a transaction.
  void walk_over(KeyRange range, const ScanOptions& options, const TransactionLayer& layer);

  /// Called before every move. False if the store is closed or the iteration never began.
  bool may_move() {
    if (walk_ && store_->is_open()) [[likely]]
      return true;
    end_walk();
    return false;
  }
  [[nodiscard]] bool is_reverse() const { return is_reverse_; }
  [[nodiscard]] bool is_of_another_process() const { return store_->is_of_another_process(); }
  [[nodiscard]] VisibleIterator* walk() { return walk_ ? &*walk_ : nullptr; }
  [[nodiscard]] const VisibleIterator* walk() const { return walk_ ? &*walk_ : nullptr; }
  [[nodiscard]] const Status& status() const { return walk_ ? walk_->status() : status_; }

 private:
  std::unique_ptr<EntryIterator> merged(const KeyRange& range, const ScanOptions& options);
  [[nodiscard]] std::unique_ptr<ApartValues> values_apart() const;
  void begin_walk(bool is_reverse);
  void end_walk();
  /// Entries added to an empty one later are newer than this iteration's sequence.
  void keep(const std::shared_ptr<Memtable>& memtable) {
    if (!memtable->empty()) memtables_.push_back(memtable);
  }

  const std::shared_ptr<Store> store_;
  const Moment moment_ = {};
  const KeyspaceId keyspace_ = {};
  bool is_reverse_ = false;
  std::optional<LiveHandle> handle_;
  std::vector<std::shared_ptr<Memtable>> memtables_;
  std::shared_ptr<const Version> version_;
  const MergeOperator* merge_operator_ = nullptr;  // The store's.
  std::shared_ptr<Memtable> own_;                  // The transaction's.
  std::optional<ViewRangeDeletes> range_deletes_;
  std::optional<EmptyRangeWatch> watch_;
  std::optional<VisibleIterator> walk_;  // Destroyed before what it reads.
  Status status_;
};

}  // namespace tamis
