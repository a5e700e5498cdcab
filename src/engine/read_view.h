// What a reader looks at: the memtables and the version of one moment.
#pragma once

#include <memory>
#include <utility>
#include <vector>

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
/// Threads: any.
class CurrentView {
 public:
  [[nodiscard]] std::shared_ptr<const ReadView> take() const {
    MutexLock lock(mutex_);
    return view_;
  }
  /// `unloaded` is what lookups may have seen through the view that is replaced.
  void replace(std::shared_ptr<const ReadView> next, std::vector<UnloadedMetadata> unloaded = {}) {
    std::shared_ptr<const ReadView> before;  // Destroyed after the mutex is released.
    MutexLock lock(mutex_);
    if (view_ != nullptr) {
      view_->unloaded = std::move(unloaded);
      view_->after = next;
    }
    before = std::exchange(view_, std::move(next));
  }

 private:
  mutable Mutex mutex_;
  std::shared_ptr<const ReadView> view_ GUARDED_BY(mutex_);
};

}  // namespace tamis
