// How far readers see.
#pragma once

#include <atomic>
#include <cstdint>

#include "entry/entry.h"

namespace tamis {

/// The newest sequence whose write is complete. A reader takes its view first, then this (rule 9).
///
/// Invariant: every sequence up to this one is in the memtables or in the tables of the current view.
///
/// Threads: `publish` by the commit leader; `newest` by any.
class PublishedSequence {
 public:
  [[nodiscard]] Sequence newest() const { return Sequence{number_.load(std::memory_order_acquire)}; }
  /// After the memtable has the entries.
  void publish(Sequence sequence) { number_.store(number_of(sequence), std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> number_ = 0;
};

}  // namespace tamis
