// What it is worth that filter memory follows the lookups.
//
//     skew_bench [--keys N] [--lookups N] [--part skew|move|split]
//
// A store of many tables is asked for absent keys. The tables have Zipfian popularity, and the popular ones are
// scattered. For several amounts of filter memory it counts the reads that no filter saved, with columns that follow
// the lookups. Beside it is what the plan expects of filters that get their bits when they are written, as if all
// tables were asked alike, and the optimum, found by dynamic programming over all columns of all tables with the true
// popularity. Then other tables become popular, and it counts the lookups until the reads are near the new optimum.
// Last, the reads of files per lookup when filters and indexes do not fit, for other shares of filters than the usual
// one. Nothing runs in the background: a put after every so many lookups does what is due, so that the counts do not
// depend on the machine.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench_run.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kStretches = 500;  // Of keys, each with a popularity of its own.
constexpr std::uint64_t kTables = 560;     // About.
constexpr std::uint64_t kStep = 4096;      // Lookups between two looks at the plan.
constexpr double kNearOptimum = 1.1;

void need(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "skew_bench: {}\n", status.to_text());
  std::exit(2);
}

std::string present_key(std::uint64_t number) { return fmt::format("key{:012}0", number); }

/// Which stretches lookups ask.
class Popularity {
 public:
  Popularity(double skew, std::uint64_t keys, std::uint64_t seed) : keys_(keys), random_(seed), shares_(kStretches) {
    for (std::uint64_t rank = 0; rank < kStretches; ++rank) shares_[rank] = std::pow(rank + 1, -skew);
    std::ranges::shuffle(shares_, random_);
    const double sum = std::accumulate(shares_.begin(), shares_.end(), 0.0);
    for (double& share : shares_) share /= sum;
    stretch_ = std::discrete_distribution<std::uint64_t>(shares_.begin(), shares_.end());
  }
  /// Sorts directly after a present key.
  std::string absent_key() {
    const std::uint64_t in_stretch = keys_ / kStretches;
    std::string key = present_key(stretch_(random_) * in_stretch + random_() % in_stretch);
    key.back() = '1';
    return key;
  }
  /// The share of the lookups whose keys are in a table.
  [[nodiscard]] double share_of(const PlanReport::Table& table) const {
    const auto number_of = [](const std::string& key) { return std::strtod(key.substr(3, 12).c_str(), nullptr); };
    const double in_stretch = static_cast<double>(keys_ / kStretches);
    const double first = number_of(table.smallest_key) / in_stretch;
    const double end = (number_of(table.largest_key) + 1) / in_stretch;
    double share = 0;
    for (auto stretch = static_cast<std::uint64_t>(first); stretch < kStretches && static_cast<double>(stretch) < end;
         ++stretch) {
      const double begin = static_cast<double>(stretch);
      share += shares_[stretch] * (std::min(end, begin + 1) - std::max(first, begin));
    }
    return share;
  }

 private:
  std::uint64_t keys_;
  std::mt19937_64 random_;
  std::vector<double> shares_;
  std::discrete_distribution<std::uint64_t> stretch_;
};

double rate_with(const PlanReport::Table& table, std::uint64_t columns) {
  if (columns == 0) return 1;
  if (columns == table.stored_columns) return table.stored_rate;
  return std::exp2(-static_cast<double>(columns)) + table.stored_rate -
         std::exp2(-static_cast<double>(table.stored_columns));
}

/// Expected reads in vain per lookup with the columns that are in memory.
double reads_now(const PlanReport& plan, const Popularity& popularity) {
  double reads = 0;
  for (const PlanReport::Table& table : plan.tables) reads += popularity.share_of(table) * table.rate;
  return reads;
}

/// The fewest of any choice of columns that takes as much memory as the columns now.
double fewest_reads(const PlanReport& plan, const Popularity& popularity, std::uint64_t memory) {
  constexpr std::uint64_t kUnit = 8;  // Of memory, rounded down: the optimum may be slightly too good.
  const std::uint64_t units = memory / kUnit;
  std::vector<double> saved(units + 1);
  double all = 0;
  for (const PlanReport::Table& table : plan.tables) {
    const double share = popularity.share_of(table);
    all += share;
    for (std::uint64_t room = units + 1; room-- > 0;) {
      for (std::uint64_t columns = 1; columns <= table.stored_columns; ++columns) {
        const std::uint64_t cost = (table.first_bytes + (columns - 1) * table.column_bytes) / kUnit;
        if (cost > room) break;
        saved[room] = std::max(saved[room], saved[room - cost] + share * (1 - rate_with(table, columns)));
      }
    }
  }
  return all - saved[units];
}

std::uint64_t positives(const DB& db) {
  std::uint64_t sum = 0;
  for (const Stats::Level& level : db.stats().levels) sum += level.probes - level.negatives;
  return sum;
}

struct Latencies {
  std::vector<double> us;
  [[nodiscard]] double percentile(double share) {
    if (us.empty()) return 0;
    const auto at = us.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(us.size() - 1));
    std::nth_element(us.begin(), at, us.end());
    return *at;
  }
};

/// Reads in vain per lookup.
double ask(DB& db, Popularity& popularity, std::uint64_t lookups, Latencies* latencies = nullptr) {
  const std::uint64_t before = positives(db);
  std::string value;
  for (std::uint64_t i = 0; i < lookups; ++i) {
    if (i % kStep == 0) need(db.put("zzz", ""));  // Does what is due in the background.
    const std::string key = popularity.absent_key();
    const Clock::time_point begin = Clock::now();
    const Result<bool> found = db.get(key, &value);
    if (latencies != nullptr) {
      latencies->us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    }
    need(found.status());
    if (*found) std::exit(3);
  }
  return static_cast<double>(positives(db) - before) / static_cast<double>(lookups);
}

Options options_for(std::uint64_t keys, double bits_per_key) {
  constexpr std::uint64_t kBytesPerEntry = 117;
  Options options{.memory_bytes = std::uint64_t{1} << 30, .memtable_bytes = 2 << 20};
  options.table_bytes = std::max<std::uint64_t>(keys * kBytesPerEntry / kTables, 4 << 10);
  options.filter_memory = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(keys) / 8);
  options.fanout = 6;
  return options;
}

std::uint64_t memory_of(std::uint64_t keys, double bits_per_key) {
  return *options_for(keys, bits_per_key).filter_memory;
}

/// A store that was filled with little filter memory, so that all large tables have filters in slices.
class Store {
 public:
  explicit Store(std::uint64_t keys) : keys_(keys) {
    reopen(options_for(keys, 2));
    std::vector<std::uint64_t> numbers(keys);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    std::ranges::shuffle(numbers, std::mt19937_64(7));
    const std::string value(100, 'v');
    for (const std::uint64_t number : numbers) need(db.put(present_key(number), value));
    need(db.flush());
    need(db.wait_idle());
  }
  void reopen(const Options& options) {
    db = DB();
    Result<DB> opened = DB::open("/store", options, {.files = &files_, .random_seed = 1, .runs_in_background = false});
    need(opened.status());
    db = *std::move(opened);
  }
  [[nodiscard]] std::uint64_t keys() const { return keys_; }

 private:
  const std::uint64_t keys_;
  MemoryFileSystem files_;

 public:
  DB db;
};

/// The run index gets what a filter memory of more than 10 bits per key leaves.
void measure_skew(Store& store, std::uint64_t lookups) {
  fmt::print(
      "\n| bits per key | skew | tables | run index | planned when written | columns follow | ratio | × optimum |\n");
  fmt::print("|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const double bits : {4.0, 2.0, 6.0, 10.0, 14.0}) {
    for (const double skew : {0.99, 0.7, 0.0}) {
      store.reopen(options_for(store.keys(), bits));
      const Popularity popularity(skew, store.keys(), 1);
      Popularity asked = popularity;
      (void)ask(store.db, asked, lookups);
      const double observed = ask(store.db, asked, lookups);
      const PlanReport plan = store.db.plan();
      const std::uint64_t filters = store.db.stats().memory.filters;
      const std::uint64_t run_index = filters - std::min(filters, plan.filter_bytes_now);
      const double fewest = fewest_reads(plan, popularity, memory_of(store.keys(), bits) - run_index);
      fmt::print("| {} | {} | {} | {} KiB | {:.5f} | {:.5f} | {:.2f} | {:.3f} |\n", bits, skew, plan.tables.size(),
                 run_index >> 10, plan.wasted_reads, observed, observed / plan.wasted_reads,
                 reads_now(plan, popularity) / fewest);
      (void)std::fflush(stdout);
    }
  }
}

/// Until the columns are near the optimum for lookups that have moved.
void measure_move(Store& store, std::uint64_t lookups) {
  const std::uint64_t keys = store.keys();
  store.reopen(options_for(keys, 4));
  Popularity before(0.99, keys, 1);
  (void)ask(store.db, before, lookups);
  Latencies usual;
  const double reads_before = ask(store.db, before, lookups, &usual);
  Popularity moved(0.99, keys, 2);
  const double fewest = fewest_reads(store.db.plan(), moved, memory_of(keys, 4));
  const Stats then = store.db.stats();
  Latencies meanwhile;
  double reads = reads_now(store.db.plan(), moved);
  fmt::print(
      "At 4 bits per key and a skew of 0.99: {:.5f} reads in vain per lookup; after the move {:.5f}, optimum "
      "{:.5f}.\n",
      reads_before, reads, fewest);
  std::uint64_t asked = 0;
  while (reads > kNearOptimum * fewest && asked < 10 * lookups) {
    (void)ask(store.db, moved, kStep, &meanwhile);
    asked += kStep;
    reads = reads_now(store.db.plan(), moved);
  }
  const Stats now = store.db.stats();
  fmt::print(
      "Within 10 % of the optimum after {} lookups: {:.5f}; {} bytes of filters loaded, {} bytes of files "
      "written, {} plans.\n",
      asked, reads, now.memory.filter_bytes_loaded - then.memory.filter_bytes_loaded,
      now.bytes_written - then.bytes_written, now.memory.filter_plans - then.memory.filter_plans);
  fmt::print("Gets before: p50 {:.2f} us, p99.9 {:.1f}; meanwhile: p50 {:.2f}, p99.9 {:.1f}.\n", usual.percentile(0.5),
             usual.percentile(0.999), meanwhile.percentile(0.5), meanwhile.percentile(0.999));
}

/// Reads of files since the store was opened.
std::uint64_t file_reads(const DB& db) {
  const Stats stats = db.stats();
  std::uint64_t sum = stats.memory.metadata_loads;
  for (const Stats::Level& level : stats.levels) sum += level.blocks_read;
  return sum;
}

/// Per lookup, of which every so many are for present keys.
double reads_of_mix(DB& db, Popularity& popularity, std::uint64_t lookups, std::uint64_t present_of_ten) {
  const std::uint64_t before = file_reads(db);
  std::string value;
  for (std::uint64_t i = 0; i < lookups; ++i) {
    if (i % kStep == 0) need(db.put("zzz", ""));
    std::string key = popularity.absent_key();
    if (i % 10 < present_of_ten) key.back() = '0';
    need(db.get(key, &value).status());
  }
  return static_cast<double>(file_reads(db) - before) / static_cast<double>(lookups);
}

/// Whether another division of memory between filters and the rest would read less.
void measure_split(Store& store, std::uint64_t lookups) {
  constexpr double kBytesPerKey = 3;  // Of memory_bytes: indexes and usual filters together take about as much.
  const std::uint64_t keys = store.keys();
  Options options = options_for(keys, 4);
  options.memory_bytes =
      std::max<std::uint64_t>(256 << 10, static_cast<std::uint64_t>(kBytesPerKey * static_cast<double>(keys)));
  options.memtable_bytes = 64 << 10;
  fmt::print("\n| filter_memory | 0 of 10 present | 5 of 10 | 10 of 10 |\n|---:|---:|---:|---:|\n");
  for (const double share : {0.0, 0.0625, 0.125, 0.25, 0.375, 0.5, 0.625}) {
    options.filter_memory.reset();
    if (share > 0)
      options.filter_memory = static_cast<std::uint64_t>(share * static_cast<double>(options.memory_bytes));
    fmt::print("| {} |", get_option(options, "filter_memory"));
    for (const std::uint64_t present : {0, 5, 10}) {
      store.reopen(options);
      Popularity popularity(0.99, keys, 1);
      (void)reads_of_mix(store.db, popularity, lookups / 2, present);
      fmt::print(" {:.4f} |", reads_of_mix(store.db, popularity, lookups / 4, present));
      (void)std::fflush(stdout);
    }
    fmt::print("\n");
  }
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using namespace tamis::bench;
  std::uint64_t keys = 1'000'000;
  std::uint64_t lookups = 200'000;
  std::string part;
  const auto into_part = [&](const std::string& word) {
    return (part = word) == "skew" || word == "move" || word == "split";
  };
  if (!read_options(argc, argv, {{"--keys", into(keys)}, {"--lookups", into(lookups)}, {"--part", into_part}}))
    return 2;
  Store store(keys);
  if (part.empty() || part == "move") measure_move(store, lookups);
  if (part.empty() || part == "skew") measure_skew(store, lookups);
  if (part.empty() || part == "split") measure_split(store, lookups);
  return 0;
}
