// The implementation of Iterator.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "engine/live_handles.h"
#include "engine/read_set.h"
#include "engine/scan_source.h"
#include "engine/store.h"
#include "entry/visible_iterator.h"
#include "memtable/memtable.h"
#include "tamis/caller.h"

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
        scan_(std::in_place, view, keyspace.id(), moment),
        merge_operator_(keyspace.merge_operator.load(std::memory_order_acquire)) {
    store_->live_handles().add(handle_.emplace(LiveHandle{.kind = "iterator", .caller = caller}));
  }
  ~IteratorState() {
    walk_.reset();
    if (handle_) store_->live_handles().remove(*handle_);
  }
  IteratorState(const IteratorState&) = delete;
  IteratorState& operator=(const IteratorState&) = delete;

  /// Begins at the first key of the range, in the direction of the scan, unless it is not positioned.
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
  std::unique_ptr<EntryIterator> merged(const KeyRange& range, const ScanOptions& options) {
    return scan_->merged(range, options.prefix, store_->empty_ranges(), options.fills_cache);
  }
  void begin_walk(const ScanOptions& options);
  void end_walk();

  const std::shared_ptr<Store> store_;
  bool is_reverse_ = false;
  std::optional<LiveHandle> handle_;
  std::optional<ScanSource> scan_;                 // None: the iteration could not begin.
  const MergeOperator* merge_operator_ = nullptr;  // The store's.
  std::shared_ptr<Memtable> own_;                  // The transaction's.
  std::optional<VisibleIterator> walk_;            // Destroyed before what it reads.
  Status status_;
};

}  // namespace tamis
