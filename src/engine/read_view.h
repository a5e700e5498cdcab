// What a reader looks at: the memtables and the version of one moment.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/epoch.h"
#include "base/sync.h"
#include "memtable/memtable.h"
#include "tree/version.h"

namespace tamis {

/// Immutable for its readers, except that it learns which view came after it.
///
/// What a table unloads while this is the current view is kept here: a lookup that holds this view may be using it, and
/// so may one that holds an older view, which is why every view keeps the one after it alive. Nobody may therefore hold
/// a view for longer than a lookup takes: memtables and tables that are not needed any more would stay with it.
///
/// Threads: any number may read; `after` and `unloaded` are CurrentView's.
struct ReadView {
  ReadView() = default;
  ReadView(const ReadView&) = delete;
  ReadView& operator=(const ReadView&) = delete;
  /// One after the other, not one inside the other: the chain may be long. A view that ends inside this loop hands over
  /// the one after it.
  ~ReadView() {
    thread_local std::shared_ptr<const ReadView>* handed_over = nullptr;
    if (handed_over != nullptr) {
      *handed_over = std::move(after);
      return;
    }
    std::shared_ptr<const ReadView> next = std::move(after);
    handed_over = &next;
    while (next != nullptr) {
      std::shared_ptr<const ReadView> ending = std::move(next);
      ending.reset();
    }
    handed_over = nullptr;
  }

  std::shared_ptr<Memtable> active;
  std::vector<std::shared_ptr<Memtable>> sealed;  ///< Newest first.
  std::shared_ptr<const Version> version;

  mutable std::shared_ptr<const ReadView> after;
  mutable std::vector<UnloadedMetadata> unloaded;
};

/// The view that readers take now.
///
/// Threads: any. `replace`: one at a time.
class CurrentView {
 public:
  CurrentView() = default;
  CurrentView(const CurrentView&) = delete;
  CurrentView& operator=(const CurrentView&) = delete;

  /// To keep: for work that reads from disk, or waits.
  [[nodiscard]] std::shared_ptr<const ReadView> take() const {
    MutexLock lock(mutex_);
    return view_;
  }
  /// To look at, inside an EpochGuard and for its length (rule 10).
  [[nodiscard]] const ReadView& peek() const { return *peeked_.load(); }

  /// `unloaded` is what lookups may have seen through the view that is replaced.
  void replace(std::shared_ptr<const ReadView> next, std::vector<UnloadedMetadata> unloaded = {}) {
    MutexLock lock(mutex_);
    peeked_.store(next.get());
    if (view_ != nullptr) {
      view_->unloaded = std::move(unloaded);
      view_->after = next;
      replaced_.push_back(std::move(view_));
    }
    view_ = std::move(next);
  }
  /// Lets go of the views that were replaced, when nobody looks at them any more. Waits for those who do: not inside an
  /// EpochGuard, and not with a mutex that a lookup may want.
  void drop_replaced() {
    std::vector<std::shared_ptr<const ReadView>> replaced;  // Destroyed after the mutex is released.
    {
      MutexLock lock(mutex_);
      replaced = std::exchange(replaced_, {});
    }
    if (!replaced.empty()) epoch::wait(epoch::retire());
  }

 private:
  std::atomic<const ReadView*> peeked_ = nullptr;  // The same as view_.
  mutable Mutex mutex_;
  std::shared_ptr<const ReadView> view_ GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<const ReadView>> replaced_ GUARDED_BY(mutex_);
};

}  // namespace tamis
