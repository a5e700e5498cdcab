#include "compaction/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "base/try.h"
#include "compaction/simulated_store.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxSteps = 100'000;     // Between two flushes; a policy that needs more does not terminate.
constexpr std::uint64_t kLookupsPerFlush = 32;   // Enough for two digits of a mean over 50 flushes.
constexpr std::uint64_t kBeginning = 1'000'000;  // The first second of the clock; 0 means "none" in facts.

/// Generates the writes and tracks which keys are readable.
class Writer {
 public:
  explicit Writer(const SimulatedLoad& load) : load_(load), random_(load.seed) {}

  std::vector<SimulatedWrite> next_memtable() {
    std::vector<SimulatedWrite> writes;
    for (std::uint64_t i = 0; i < load_.keys_per_flush; ++i) {
      const double kind = static_cast<double>(random_.next() >> 11) * 0x1p-53;
      const bool is_old = keys_ > 0 && kind < load_.overwrites + load_.deletes;
      const bool is_delete = is_old && kind < load_.deletes;
      const std::uint64_t index = is_old ? random_.below(keys_) : keys_++;
      if (is_delete) {
        deleted_.insert(index);
      } else {
        deleted_.erase(index);
      }
      writes.push_back({.key = key_of(index), .version = ++version_, .is_delete = is_delete});
    }
    return writes;
  }
  [[nodiscard]] std::uint64_t readable_keys() const { return keys_ - deleted_.size(); }
  std::uint64_t any_key() { return key_of(random_.below(keys_)); }

 private:
  /// remix is injective.
  [[nodiscard]] std::uint64_t key_of(std::uint64_t index) const {
    return load_.order == SimulatedLoad::Order::kRandom ? remix(index) : index;
  }

  const SimulatedLoad& load_;
  SplitMix64 random_;
  std::uint64_t keys_ = 0;
  std::uint64_t version_ = 0;
  std::unordered_set<std::uint64_t> deleted_;
};

Status do_all_that_is_due(const CompactionPolicy& policy, const PolicyOptions& options, SimulatedStore& store,
                          SimulatedCost& cost) {
  std::uint64_t steps = 0;
  while (const auto plan = policy.pick(store.shape(), options)) {
    if (++steps > kMaxSteps) {
      return Status::invalid_argument(
          fmt::format("policy {} does not come to an end; it asks for: {}", policy.name, plan->reason));
    }
    const std::uint64_t before = store.bytes_written();
    TAMIS_TRY_STATUS(store.run(*plan));
    cost.largest_merge_bytes = std::max(cost.largest_merge_bytes, store.bytes_written() - before);
    ++(plan->is_move ? cost.moves : cost.merges);
  }
  cost.most_steps = std::max(cost.most_steps, steps);
  return {};
}

}  // namespace

Result<SimulatedCost> simulate(const CompactionPolicy& policy, PolicyOptions options, const SimulatedLoad& load) {
  SimulatedStore store(load.entry_bytes, options.table_bytes);
  Writer writer(load);
  SimulatedCost cost;
  double runs = 0;
  double space = 0;
  double moments = 0;
  std::uint64_t flushed_before = 0;  // The second half.
  std::uint64_t written_before = 0;
  for (std::uint64_t flush = 0; flush < load.flushes; ++flush) {
    if (flush == load.flushes / 2) {
      flushed_before = store.bytes_flushed();
      written_before = store.bytes_written();
    }
    options.now_unix_seconds = kBeginning + flush * load.seconds_per_flush;
    if (policy.takes_parts_of_level_zero) {
      store.set_cuts(cuts_for_level_zero(store.shape(), options.memtable_bytes, store.cuts()));
    }
    TAMIS_TRY_STATUS(store.flush(writer.next_memtable(), options.now_unix_seconds));
    TAMIS_TRY_STATUS(do_all_that_is_due(policy, options, store, cost));
    if (flush < load.flushes / 2 || writer.readable_keys() == 0) continue;
    for (std::uint64_t i = 0; i < kLookupsPerFlush; ++i)
      runs += static_cast<double>(store.runs_around(writer.any_key()));
    space +=
        static_cast<double>(store.shape().bytes()) / static_cast<double>(writer.readable_keys() * load.entry_bytes);
    moments += 1;
  }
  if (moments > 0) {
    cost.runs_per_lookup = runs / (moments * kLookupsPerFlush);
    cost.space_amplification = space / moments;
    cost.write_amplification = static_cast<double>(store.bytes_written()) / static_cast<double>(store.bytes_flushed());
    cost.late_write_amplification = static_cast<double>(store.bytes_written() - written_before) /
                                    static_cast<double>(store.bytes_flushed() - flushed_before);
  }
  cost.shape = store.shape();
  return cost;
}

}  // namespace tamis
