#include "engine/residency.h"

#include <algorithm>
#include <numeric>

#include "base/epoch.h"

namespace tamis {
namespace {

constexpr std::uint64_t kGetsBetweenReviews = 4096;  // Enough to tell tables apart, few enough to follow a change.

}  // namespace

std::vector<bool> choose_resident(std::span<const ResidentCandidate> candidates, std::uint64_t limit_bytes) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto worth = [&](std::size_t i) {
    return candidates[i].saved_reads / static_cast<double>(std::max<std::uint64_t>(candidates[i].bytes, 1));
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return worth(a) > worth(b); });
  std::vector<bool> stays(candidates.size());
  std::uint64_t used = 0;
  for (const std::size_t i : order) {
    if (used + candidates[i].bytes > limit_bytes) continue;
    used += candidates[i].bytes;
    stays[i] = true;
  }
  return stays;
}

bool Residency::is_due(std::span<const std::shared_ptr<Table>> tables, std::uint64_t gets) {
  std::uint64_t filter_bytes = 0;
  std::uint64_t index_bytes = 0;
  for (const std::shared_ptr<Table>& table : tables) {
    filter_bytes += table->filter_memory_bytes();
    index_bytes += table->index_memory_bytes();
  }
  const bool all_fit =
      filter_bytes <= memory_.filter_budget().limit_bytes() && index_bytes <= memory_.index_budget().limit_bytes();
  MutexLock lock(mutex_);
  if (all_fit || gets - gets_at_last_review_ < kGetsBetweenReviews) return false;
  gets_at_last_review_ = gets;
  return true;
}

void Residency::review() {
  std::vector<std::shared_ptr<Table>> tables;  // Of all keyspaces: they share the budgets.
  std::uint64_t gets = keyspaces_.reads_of_dropped().all();
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    const std::shared_ptr<const Version> version = keyspace->tree.version();
    tables.insert(tables.end(), version->tables().begin(), version->tables().end());
    gets += keyspace->reader.counts().all();
  }
  if (!is_due(tables, gets)) return;
  std::vector<ResidentCandidate> filters;
  std::vector<ResidentCandidate> indexes;
  for (const std::shared_ptr<Table>& table : tables) {
    const TableCounts counts = table->counts();
    const double negatives = static_cast<double>(counts.probes) - static_cast<double>(counts.hits);
    filters.push_back({table->filter_memory_bytes(), negatives * (1 - table->facts().filter_rate)});
    indexes.push_back({table->index_memory_bytes(), static_cast<double>(counts.positives)});
  }
  const std::vector<bool> filter_stays = choose_resident(filters, memory_.filter_budget().limit_bytes());
  const std::vector<bool> index_stays = choose_resident(indexes, memory_.index_budget().limit_bytes());
  std::vector<UnloadedMetadata> unloaded;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    Table& table = *tables[i];
    if (!filter_stays[i] && table.has_filter_in_memory()) unloaded.push_back(table.unload_filter());
    if (!index_stays[i] && table.has_index_in_memory()) unloaded.push_back(table.unload_index());
  }
  if (!unloaded.empty()) epoch::wait(epoch::retire());  // Then nobody looks at it any more, and it is freed.
}

}  // namespace tamis
