// The figures of docs/decisions/0010-block-cache.md: what a hit and a miss cost under each policy, alone and beside a
// second thread, and how many requests hit.
//
//     cache_bench [--blocks 16384] [--requests 1000000] [--rounds 7] [--shards 0]
//
// `blocks` is how many 4 KiB blocks the cache holds. Requests are drawn outside the clock; a cell is the median over
// rounds, with the lowest and highest. Policies alternate within a round. Times are processor time of the thread, which
// other programs on the machine disturb least; time asleep on a mutex is not in it.
#include <fmt/core.h>

#include <algorithm>
#include <barrier>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/zipf.h"
#include "cache/block_cache.h"
#include "cache/cache_test_support.h"

namespace tamis::bench {
namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kCharge = kBlockBytes + kFrameOverheadBytes;

struct Options {
  std::size_t blocks = 16'384;
  std::size_t requests = 1'000'000;
  std::size_t rounds = 7;
  std::size_t shards = 0;
};

using Trace = std::vector<BlockKey>;

Trace zipf_trace(std::size_t blocks, double skew, std::size_t requests, std::uint64_t seed) {
  ZipfDraws draws(blocks, skew, seed);
  Trace trace(requests);
  for (BlockKey& key : trace) key = {1, draws.next()};
  return trace;
}

/// Asks for a key and reads the first word of its block. A miss inserts a block of so many zeros, charged as 4 KiB:
/// 4096 are what a read from disk would fill, 0 leave nothing but the cache's own work. Returns what it read.
std::uint64_t request(BlockCache& cache, const BlockKey& key, std::size_t block_bytes) {
  PinnedBlock block = cache.find(key);
  if (!block) block = cache.insert(key, BlockBuffer::zeroed(block_bytes), kBlockBytes);
  return block.bytes().empty() ? 0 : load_le<std::uint64_t>(block.bytes().data());
}

std::uint64_t replay(BlockCache& cache, const Trace& trace, std::size_t block_bytes) {
  std::uint64_t sum = 0;
  for (const BlockKey& key : trace) sum += request(cache, key, block_bytes);
  return sum;
}

double thread_nanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Nanoseconds per request of the slowest thread, all threads running their own trace from one start.
double time_threads(BlockCache& cache, const std::vector<Trace>& traces, std::size_t block_bytes,
                    std::uint64_t& checksum) {
  std::barrier start(static_cast<std::ptrdiff_t>(traces.size()));
  std::vector<double> nanoseconds(traces.size());
  std::vector<std::uint64_t> sums(traces.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        const double begin = thread_nanoseconds();
        sums[i] = replay(cache, traces[i], block_bytes);
        nanoseconds[i] = (thread_nanoseconds() - begin) / static_cast<double>(traces[i].size());
      });
    }
  }
  for (const std::uint64_t sum : sums) checksum += sum;
  return *std::max_element(nanoseconds.begin(), nanoseconds.end());
}

class Bench {
 public:
  explicit Bench(Options options) : options_(options), capacity_(options.blocks * kCharge * 102 / 100) {}

  void run() {
    for (std::size_t round = 0; round < options_.rounds; ++round) {
      for (const CachePolicy* policy : all_cache_policies()) time_policy(policy->name, round);
    }
    print_times();
    print_hit_ratios();
    fmt::print("\nchecksum {:016x}\n", checksum_);
  }

 private:
  [[nodiscard]] std::unique_ptr<BlockCache> make(std::string_view policy, std::size_t capacity) const {
    return test::make_cache(policy, capacity, options_.shards);
  }

  void time_policy(std::string_view policy, std::size_t round) {
    const auto cache = make(policy, capacity_ + capacity_ / 8);  // Shards fill unevenly; all blocks are to fit.
    for (std::uint32_t i = 0; i < options_.blocks; ++i) {
      (void)cache->insert({1, i}, test::make_block({1, i}, kBlockBytes), kBlockBytes);
    }
    for (const std::size_t threads : {1U, 2U}) {
      time_hits(policy, *cache, threads, round);
      for (const std::size_t block_bytes : {kBlockBytes, std::size_t{0}}) time_misses(policy, threads, block_bytes);
    }
    time_erase(policy, *cache);
  }

  void time_hits(std::string_view policy, BlockCache& cache, std::size_t threads, std::size_t round) {
    for (const double skew : {0.99, 0.0}) {
      std::vector<Trace> traces;
      for (std::size_t i = 0; i < threads; ++i) {
        traces.push_back(zipf_trace(options_.blocks, skew, options_.requests, round * 2 + i));
      }
      sample(policy, fmt::format("hit, {}, {}", skew == 0 ? "uniform" : "zipf 0.99", count_of(threads)),
             time_threads(cache, traces, kBlockBytes, checksum_));
    }
    if (cache.stats().misses != 0) std::abort();
  }

  void time_misses(std::string_view policy, std::size_t threads, std::size_t block_bytes) {
    const auto cache = make(policy, capacity_);
    for (std::uint32_t i = 0; i < options_.blocks; ++i) request(*cache, {9, i}, block_bytes);
    std::vector<Trace> traces(threads, Trace(options_.requests / 4 + 1));
    for (std::size_t i = 0; i < threads; ++i) {
      for (std::uint32_t j = 0; j < traces[i].size(); ++j) traces[i][j] = {10 + i, j};
    }
    sample(policy, fmt::format("miss{}, {}", block_bytes == 0 ? " without block" : "", count_of(threads)),
           time_threads(*cache, traces, block_bytes, checksum_));
  }

  static std::string count_of(std::size_t threads) { return threads == 1 ? "1 thread" : "2 threads"; }

  void time_erase(std::string_view policy, BlockCache& cache) {
    const double begin = thread_nanoseconds();
    cache.erase_table(2, options_.blocks);  // Nothing is of that table; the search is what counts.
    sample(policy, "erase_table, per block of the table",
           (thread_nanoseconds() - begin) / static_cast<double>(options_.blocks));
  }

  void sample(std::string_view policy, std::string row, double value) {
    if (!times_.contains(row)) rows_.push_back(row);
    times_[std::move(row)][std::string(policy)].push_back(value);
  }

  void print_times() {
    fmt::print("{} blocks of {} bytes, {} shards; ns per request: median (lowest, highest) of {} rounds\n\n",
               options_.blocks, kBlockBytes, make("lru", capacity_)->shards(), options_.rounds);
    fmt::print("| {:29} |", "");
    for (const CachePolicy* policy : all_cache_policies()) fmt::print(" {:24} |", policy->name);
    fmt::print("\n|---|---|---|\n");
    for (const std::string& row : rows_) {
      fmt::print("| {:29} |", row);
      for (const CachePolicy* policy : all_cache_policies()) {
        std::vector<double>& values = times_[row][std::string(policy->name)];
        std::sort(values.begin(), values.end());
        fmt::print(" {:24} |",
                   fmt::format("{:.1f} ({:.1f}, {:.1f})", values[values.size() / 2], values.front(), values.back()));
      }
      fmt::print("\n");
    }
  }

  /// `scan_every`: so often, a run of a tenth of the cache that nobody asks for again.
  double hit_ratio(std::string_view policy, double skew, std::size_t universe, std::size_t scan_every) {
    const auto cache = test::make_cache(policy, capacity_, options_.shards);
    const Trace trace = zipf_trace(universe, skew, options_.requests, 99);
    std::uint64_t hits = 0;
    std::uint32_t scanned = 0;
    const auto ask = [&](const BlockKey& key) {
      const bool hit = static_cast<bool>(cache->find(key));
      if (!hit) (void)cache->insert(key, BlockBuffer::zeroed(0), kBlockBytes);
      return hit ? 1U : 0U;
    };
    for (std::size_t i = 0; i < trace.size(); ++i) {
      hits += ask(trace[i]);
      if (scan_every == 0 || i % scan_every != 0) continue;
      for (std::size_t j = 0; j < options_.blocks / 10; ++j) (void)ask({2, scanned++});
    }
    checksum_ += hits;
    return 100.0 * static_cast<double>(hits) / static_cast<double>(trace.size());
  }

  void print_hit_ratios() {
    struct Mix {
      const char* name;
      double skew;
      std::size_t universe;  // Times the blocks that fit.
      bool scans;
    };
    constexpr Mix kMixes[] = {
        {"zipf 0.9, cache 10 %", 0.9, 10, false},       {"zipf 0.9, cache 1 %", 0.9, 100, false},
        {"zipf 0.99, cache 10 %", 0.99, 10, false},     {"zipf 0.99, cache 1 %", 0.99, 100, false},
        {"zipf 0.9, cache 10 %, scans", 0.9, 10, true}, {"zipf 0.99, cache 10 %, scans", 0.99, 10, true},
    };
    fmt::print(
        "\n% of point requests that hit; scans: as many scanned blocks as point requests, none asked for again\n\n");
    fmt::print("| {:29} |", "");
    for (const CachePolicy* policy : all_cache_policies()) fmt::print(" {:6} |", policy->name);
    fmt::print("\n|---|---|---|\n");
    for (const Mix& mix : kMixes) {
      fmt::print("| {:29} |", mix.name);
      for (const CachePolicy* policy : all_cache_policies()) {
        const std::size_t scan_every = mix.scans ? std::max<std::size_t>(options_.blocks / 10, 1) : 0;
        fmt::print(" {:6.1f} |", hit_ratio(policy->name, mix.skew, mix.universe * options_.blocks, scan_every));
      }
      fmt::print("\n");
    }
  }

  Options options_;
  std::size_t capacity_;
  std::vector<std::string> rows_;  // In order of first appearance.
  std::map<std::string, std::map<std::string, std::vector<double>>> times_;
  std::uint64_t checksum_ = 0;
};

bool parse(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; i += 2) {
    const std::string_view name = arguments[i];
    std::size_t* value = name == "--blocks"     ? &options.blocks
                         : name == "--requests" ? &options.requests
                         : name == "--rounds"   ? &options.rounds
                         : name == "--shards"   ? &options.shards
                                                : nullptr;
    if (value == nullptr || i + 1 == count) return false;
    const char* end = arguments[i + 1] + std::strlen(arguments[i + 1]);
    if (std::from_chars(arguments[i + 1], end, *value).ptr != end) return false;
  }
  return options.blocks > 0 && options.requests > 0 && options.rounds > 0;
}

}  // namespace
}  // namespace tamis::bench

int main(int count, char** arguments) {
  tamis::bench::Options options;
  if (!tamis::bench::parse(count, arguments, options)) {
    fmt::print(stderr, "usage: cache_bench [--blocks N] [--requests N] [--rounds N] [--shards N]\n");
    return 2;
  }
  tamis::bench::Bench(options).run();
}
