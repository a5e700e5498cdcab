// What a reader reads: the memtables and the version of one moment.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/epoch.h"
#include "base/sync.h"
#include "entry/entry.h"
#include "memtable/memtable.h"
#include "tree/version.h"

namespace tamis {

/// Owns its memtables and its version and nothing newer: a reader that keeps a view during a disk read delays the
/// freeing of these alone (P8). Inside an EpochGuard, a view can be kept with `shared_from_this`.
///
/// Threads: constant once it is installed.
struct ReadView : std::enable_shared_from_this<ReadView> {
  std::shared_ptr<Memtable> active;
  std::vector<std::shared_ptr<Memtable>> sealed;  ///< Newest first.
  std::shared_ptr<const Version> version;
  bool older_have_range_deletes = false;  ///< The sealed memtables or the version.

  /// Asked after the sequence was loaded: whoever sees the sequence of a range delete also sees that there are some.
  [[nodiscard]] bool has_range_deletes() const { return older_have_range_deletes || active->has_range_deletes(); }
};

/// A view and the sequence to read it at. `View`: a reference, or a pointer that keeps the view.
template <typename View>
struct ViewAt {
  View view;
  Sequence sequence;
};

/// The current view. A reader passes a function that loads its sequence, because the view must come first (rule 9).
///
/// Threads: any. `replace`: one at a time.
class CurrentView {
 public:
  CurrentView() = default;
  CurrentView(const CurrentView&) = delete;
  CurrentView& operator=(const CurrentView&) = delete;

  /// For work that reads from disk or waits. Not inside an EpochGuard.
  [[nodiscard]] std::shared_ptr<const ReadView> take() const {
    const EpochGuard guard;
    return peeked_.load()->shared_from_this();
  }
  template <typename LoadSequence>
  [[nodiscard]] ViewAt<std::shared_ptr<const ReadView>> take_at(LoadSequence load_sequence) const {
    std::shared_ptr<const ReadView> view = take();
    return {std::move(view), load_sequence()};
  }
  /// Valid inside an EpochGuard, as long as that (rule 10).
  template <typename LoadSequence>
  [[nodiscard]] ViewAt<const ReadView&> peek_at(LoadSequence load_sequence) const {
    const ReadView& view = *peeked_.load();
    return {view, load_sequence()};
  }
  /// The same, of a view that has all entries up to the sequence: no memtable was sealed in between. Whoever tells
  /// others what was not there at its sequence needs it.
  template <typename LoadSequence>
  [[nodiscard]] ViewAt<const ReadView&> peek_whole_at(LoadSequence load_sequence) const {
    for (;;) {
      const ReadView* const view = peeked_.load();
      const Sequence sequence = load_sequence();
      if (peeked_.load() == view) [[likely]]
        return {*view, sequence};
    }
  }

  void replace(std::shared_ptr<const ReadView> next) {
    MutexLock lock(mutex_);
    peeked_.store(next.get());
    if (view_ != nullptr) replaced_.push_back(std::move(view_));
    view_ = std::move(next);
  }
  /// Frees the replaced views. Waits for readers inside an EpochGuard, so call it outside of one and without a mutex
  /// that a lookup may need.
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
