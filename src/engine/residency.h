// Keeps in memory what saves most reads when not all indexes and filters fit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/keyspaces.h"
#include "engine/lookup_weights.h"
#include "engine/resident_plan.h"
#include "engine/store_memory.h"
#include "table/table.h"
#include "tamis/stats.h"

namespace tamis {

/// Plans which indexes, and how many columns of which filters, are in memory, from what lookups have asked. Loads and
/// drops columns, and unloads indexes so that the next lookup can load a better one. No table is rewritten. Does
/// nothing while everything fits.
///
/// The columns change where they leave clearly more reads than a new plan would, and where they no longer fit. A review
/// loads about kLoadedBytes; the next one goes on.
///
/// Threads: any; one reviews at a time, others return at once.
class Residency {
 public:
  static constexpr std::uint64_t kLoadedBytes = 4 << 20;
  static constexpr std::chrono::milliseconds kLongPause{1000};

  Residency(StoreMemory& memory, const Keyspaces& keyspaces) : memory_(memory), keyspaces_(keyspaces) {}

  void review();
  /// After the limits changed: what no longer fits is gone on return, unless lookups use it.
  void fit();
  /// How long the next review may wait: short while there are lookups and not all filters fit, but long enough that
  /// reviews take a small share of a core.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    return std::chrono::milliseconds(pause_ms_.load(std::memory_order_relaxed));
  }
  /// How often the columns have changed because lookups did, or the memory.
  [[nodiscard]] std::uint64_t plans() const { return plans_.load(std::memory_order_relaxed); }
  /// Adds tables, what they are asked and what their filters cost.
  void report(PlanReport& report);

 private:
  /// The tables of all keyspaces, which share the memory.
  struct Found {
    std::vector<WeighedTable> tables;
    std::vector<Resident> filters;  // Of the tables, without weights.
    std::vector<Resident> indexes;
    std::uint64_t gets = 0;
    std::uint64_t filter_limit = 0;
    std::uint64_t index_limit = 0;
  };

  void begin_turn();
  void end_turn();
  [[nodiscard]] Found find_tables() const;
  [[nodiscard]] std::uint64_t gets() const;
  /// Whether all filters fit. `must`: even if nothing has been asked.
  bool review_tables(bool must);
  void drop_indexes(Found& found);
  [[nodiscard]] bool exceeds_limits() const;
  [[nodiscard]] bool is_due(const Found& found) const;
  /// The columns of each filter.
  std::vector<std::uint64_t> choose_columns(const Found& found);
  void drop_columns(const Found& found, std::span<const std::uint64_t> columns);
  void load_columns(const Found& found, std::span<const std::uint64_t> columns);

  StoreMemory& memory_;
  const Keyspaces& keyspaces_;
  std::atomic<bool> is_reviewing_ = false;
  std::atomic<std::uint32_t> pause_ms_ = kLongPause.count();
  std::atomic<std::uint64_t> plans_ = 0;
  // These belong to the thread that set is_reviewing_.
  LookupWeights weights_;
  std::unordered_map<std::uint64_t, std::uint64_t> columns_;  // By table number, as planned. Empty: everything fits.
  std::uint64_t filter_limit_ = 0;                            // Then.
  std::uint64_t gets_at_last_review_ = 0;
  std::uint64_t gets_at_last_call_ = 0;
  bool is_loading_ = false;  // Some columns are still to be loaded.
};

}  // namespace tamis
