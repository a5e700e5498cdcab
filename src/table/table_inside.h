// The state of a Table besides the pointers that its lookups use; for table*.cc only.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/epoch.h"
#include "base/sync.h"
#include "table/table.h"
#include "table/table_filter.h"

namespace tamis {

inline void add_to(std::atomic<std::uint64_t>& count, std::uint64_t amount) {
  if (amount != 0) count.fetch_add(amount, std::memory_order_relaxed);
}

/// The filter's answer, if it is in memory. For lookups outside an EpochGuard, which may have to read from disk next.
template <typename AnyFilter, typename Ask>
std::optional<bool> ask_loaded(const std::atomic<const AnyFilter*>& loaded, Ask ask) {
  const EpochGuard guard;
  const AnyFilter* const filter = loaded.load();
  if (filter == nullptr) return std::nullopt;
  return ask(*filter);
}

/// A filter that only scans ask, while it is in memory. What is released must not be freed before its epoch has passed.
///
/// Threads: any. `hold`: one at a time.
template <typename AnyFilter>
class ScanFilterHolder {
 public:
  /// Nullopt if it is not in memory. Not inside an EpochGuard.
  template <typename Ask>
  [[nodiscard]] std::optional<bool> ask(Ask ask) const {
    return ask_loaded(held_, ask);
  }
  [[nodiscard]] bool is_held() const { return held_.load(std::memory_order_relaxed) != nullptr; }
  void hold(std::shared_ptr<const AnyFilter> filter) {
    const MutexLock lock(mutex_);
    owned_ = std::move(filter);
    held_.store(owned_.get(), std::memory_order_release);
  }
  [[nodiscard]] std::shared_ptr<const AnyFilter> release() {
    const MutexLock lock(mutex_);
    held_.store(nullptr);
    return std::move(owned_);
  }
  /// It is missing or damaged: not to be loaded.
  [[nodiscard]] bool is_useless() const { return is_useless_.load(std::memory_order_relaxed); }
  void set_useless() { is_useless_.store(true, std::memory_order_relaxed); }

 private:
  std::atomic<const AnyFilter*> held_ = nullptr;  // Like Table::filter_.
  std::atomic<bool> is_useless_ = false;
  Mutex mutex_;
  std::shared_ptr<const AnyFilter> owned_ GUARDED_BY(mutex_);
};

/// Held by one thread at a time; the others see that and continue without.
class LoadingTurn {
 public:
  explicit LoadingTurn(std::atomic<bool>& is_loading)
      : is_loading_(is_loading), is_mine_(!is_loading.exchange(true, std::memory_order_acquire)) {}
  LoadingTurn(const LoadingTurn&) = delete;
  LoadingTurn& operator=(const LoadingTurn&) = delete;
  ~LoadingTurn() {
    if (is_mine_) is_loading_.store(false, std::memory_order_release);
  }
  [[nodiscard]] bool is_mine() const { return is_mine_; }

 private:
  std::atomic<bool>& is_loading_;
  const bool is_mine_;
};

/// An index in memory, charged until its last user is done.
///
/// Threads: constant.
struct ChargedIndex : std::enable_shared_from_this<ChargedIndex> {
  ChargedIndex(std::unique_ptr<const Index> loaded, Charge of_index)
      : charge(std::move(of_index)), index(std::move(loaded)) {}
  /// For a user that leaves the EpochGuard.
  [[nodiscard]] std::shared_ptr<const Index> share() const { return {shared_from_this(), index.get()}; }

  Charge charge;
  std::unique_ptr<const Index> index;
};

/// How many columns of a table's filter there are to load, and to keep in memory. Relaxed.
struct FilterColumns {
  static constexpr std::uint64_t kUnplanned = ~std::uint64_t{0};

  std::atomic<std::uint64_t> usable = ~std::uint64_t{0};  // Those before the first damaged slice.
  std::atomic<std::uint64_t> planned = kUnplanned;
};

/// Invariants:
///  1. It owns the targets of Table's and its own atomic pointers until they are unloaded.
///  2. The last owner of a filter or an index releases its charge.
struct Table::Inside {
  /// Held by the loading thread; the others continue without. Taken by exchange(acquire), released by store(release).
  std::atomic<bool> is_loading = false;
  std::shared_ptr<const ReadableFile> held_file;  // Constant once others use the table; mostly null.
  std::unique_ptr<BlockSlot[]> owned_slots;       // Made once, by the loading thread.

  std::atomic<const TableProperties*> properties = nullptr;  // Stored once with release, loaded with acquire.
  /// The filter is missing, damaged, or of another hash: not to be loaded. Relaxed: the filter itself is acquired.
  std::atomic<bool> filter_is_useless = false;
  FilterColumns columns;

  /// A counted reference to the index, without a mutex; null if it is not in memory.
  [[nodiscard]] std::shared_ptr<const Index> loaded_index() const {
    const EpochGuard guard;
    const ChargedIndex* const loaded = charged_index.load();
    return loaded == nullptr ? nullptr : loaded->share();
  }
  ScanFilterHolder<Filter> prefix_filter;
  ScanFilterHolder<RangeFilter> range_filter;
  std::atomic<const ChargedIndex*> charged_index = nullptr;  // Like Table::index_, stored before it.

  mutable Mutex mutex;
  std::unique_ptr<const TableProperties> owned_properties GUARDED_BY(mutex);
  std::shared_ptr<const ChargedIndex> owned_index GUARDED_BY(mutex);
  std::shared_ptr<const TableFilter> owned_filter GUARDED_BY(mutex);
  std::optional<Status> filter_problem GUARDED_BY(mutex);
  std::shared_ptr<const std::vector<RangeTombstone>> range_deletes GUARDED_BY(mutex);

  // All relaxed: no count depends on another.
  std::atomic<std::uint64_t> probes = 0;
  std::atomic<std::uint64_t> vain_probes = 0;
  std::atomic<std::uint64_t> passed_over = 0;
  std::atomic<std::uint64_t> positives = 0;
  std::atomic<std::uint64_t> false_positives = 0;
  std::atomic<std::uint64_t> unfiltered = 0;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> blocks_read = 0;
  std::atomic<std::uint64_t> metadata_loads = 0;
  std::atomic<std::uint64_t> filter_bytes_read = 0;
  /// Peeks are so short that a shared cache line of counts would slow them down.
  struct alignas(kCacheLineBytes) PeekCounts {
    std::atomic<std::uint64_t> found = 0;
    std::atomic<std::uint64_t> absent = 0;
  };
  std::array<PeekCounts, 4> peeks;
};

}  // namespace tamis
