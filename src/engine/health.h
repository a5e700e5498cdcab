// Whether a store accepts writes, and why not.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/store_context.h"
#include "tamis/status.h"

namespace tamis {

/// Records the failure that stopped writes, and whether the store is closing. Announces every change.
///
/// Invariant: the first failure is kept until writes resume.
///
/// Threads: any.
class Health {
 public:
  /// Why writes stopped.
  struct Stop {
    Status why;
    bool resumes_by_itself = false;  ///< Out of space: every write and the background try again.
  };

  Health(const StoreContext& context, ChangeSignal& changes) : context_(context), changes_(changes) {}

  void stop_writes(const Status& why) EXCLUDES(mutex_);
  void resume_writes() EXCLUDES(mutex_);
  /// The leader of every commit asks this; no mutex.
  [[nodiscard]] bool has_stopped() const { return has_stopped_.load(std::memory_order_acquire); }
  [[nodiscard]] std::optional<Stop> stop() const EXCLUDES(mutex_);
  /// Not ok when nothing more happens in the background: writes have stopped, or the store is closing.
  [[nodiscard]] Status check_working() const EXCLUDES(mutex_);

  void begin_closing();
  /// Rewrites end early.
  [[nodiscard]] bool is_closing() const { return is_closing_.load(std::memory_order_relaxed); }

  /// A table that could not be written is written again as another file. After kMaxFailures in a row, and at once when
  /// the disk is full or a table is damaged, writes stop.
  void rewrite_failed(std::string_view what, const Status& why);
  void rewrite_succeeded() { failed_rewrites_ = 0; }
  [[nodiscard]] bool is_retrying() const { return failed_rewrites_ > 0; }

 private:
  static constexpr std::uint32_t kMaxFailures = 3;

  const StoreContext& context_;
  ChangeSignal& changes_;
  std::atomic<bool> has_stopped_ = false;  // Whether stop_ is set.
  std::atomic<bool> is_closing_ = false;
  std::atomic<std::uint32_t> failed_rewrites_ = 0;
  mutable Mutex mutex_;
  std::optional<Stop> stop_ GUARDED_BY(mutex_);
};

}  // namespace tamis
