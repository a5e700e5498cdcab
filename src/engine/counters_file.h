// COUNTERS: what the writer of a store tells its followers about itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/counters_format.h"
#include "engine/store_context.h"
#include "io/file_system.h"
#include "tamis/stats.h"

namespace tamis {

/// Publishes the counters of a store, at most once a second and only if they have changed. Nothing depends on the file:
/// errors are ignored, it is never synced, and it is overwritten in place (docs/decisions/0044).
///
/// Without threads of the store's own it is written only if the clock is the caller's, so that the file calls of a test
/// do not depend on how long it takes.
///
/// Threads: any. One at a time writes; another one that finds it writing does nothing.
class CountersFile {
 public:
  /// The context must outlive it.
  explicit CountersFile(const StoreContext& context);

  /// Removes what an earlier writer left. To be called with the store's lock.
  void remove_old();
  /// Writes what `count` returns, if it is time and differs from what is there.
  void publish_if_due(const std::function<Stats()>& count);
  /// Removes the file, if one was written. Nothing is published from then on.
  void remove();

  /// What the store's writer published last; nullopt if there is nothing legible.
  static std::optional<PublishedCounters> read(const StoreContext& context);

 private:
  void publish(const Stats& stats, std::uint64_t now);

  const StoreContext& context_;
  const bool is_used_;
  std::atomic<std::uint64_t> last_look_;  // Uptime in milliseconds, when the counters were compared.

  /// Set by whoever writes. It owns the fields below: its exchange pairs with the store that ends another's turn.
  std::atomic<bool> is_writing_ = false;
  std::unique_ptr<WritableFile> file_;
  std::optional<CountersBytes> published_;  // Without the time and the memory.
};

}  // namespace tamis
