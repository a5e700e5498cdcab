// What a range filter saves: reads of short scans that find nothing.
//
//     range_filter_bench [--keys N] [--scans N]
//
// A store of one level is filled with integers, timestamps or URLs, with several bits per key, and scanned for ranges
// without a key: anywhere, and directly behind a present key, which is where an adversary would ask. Indexes and
// filters are in memory, and no block is. It counts the reads of files; nothing depends on the machine.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "bench_run.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

using Random = std::mt19937_64;
using Keys = std::set<std::string>;

void need(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "range_filter_bench: {}\n", status.to_text());
  std::exit(2);
}

struct Range {
  std::string from;
  std::string to;
};

/// A kind of ranges, by name.
struct Ranges {
  std::string name;
  std::function<Range(Random&)> draw;
};

struct Workload {
  std::string name;
  Keys keys;
  std::vector<Ranges> ranges;
};

std::string big_endian(std::uint64_t number) {
  std::string text;
  append_be(text, number);
  return text;
}
std::string decimal(std::uint64_t number) { return fmt::format("event/{:013}", number); }

/// Ranges of `length` numbers between the smallest and the largest, and behind a number of the set.
std::vector<Ranges> ranges_of(const std::vector<std::uint64_t>& numbers, std::string (*key)(std::uint64_t),
                              const std::vector<std::uint64_t>& lengths) {
  std::vector<Ranges> all;
  for (const std::uint64_t length : lengths) {
    all.push_back({fmt::format("{} anywhere", length), [=](Random& random) {
                     const std::uint64_t width = numbers.back() - numbers.front();
                     const std::uint64_t from = numbers.front() + random() % width;
                     return Range{key(from), key(from + length)};
                   }});
    all.push_back({fmt::format("{} behind a key", length), [=](Random& random) {
                     const std::uint64_t from = numbers[random() % numbers.size()] + 1;
                     return Range{key(from), key(from + length)};
                   }});
  }
  return all;
}

Workload numbers_workload(std::string name, const std::set<std::uint64_t>& numbers, std::string (*key)(std::uint64_t),
                          const std::vector<std::uint64_t>& lengths) {
  Workload workload{std::move(name), {}, ranges_of({numbers.begin(), numbers.end()}, key, lengths)};
  for (const std::uint64_t number : numbers) workload.keys.insert(key(number));
  return workload;
}

Workload integers(std::uint64_t count) {
  Random random(1);
  std::set<std::uint64_t> numbers;
  while (numbers.size() < count) numbers.insert(random() >> 16);
  return numbers_workload("integers of 48 bits", numbers, big_endian, {1, 16, 256});
}

/// Nine of ten follow the one before closely; then there is a pause.
std::set<std::uint64_t> times(std::uint64_t count, std::uint64_t start, std::uint64_t close, std::uint64_t pause) {
  Random random(2);
  std::set<std::uint64_t> numbers;
  for (std::uint64_t time = start; numbers.size() < count; numbers.insert(time)) {
    time += 1 + random() % (random() % 10 != 0 ? close : pause);
  }
  return numbers;
}

/// Hosts with Zipfian popularity; paths of a few words, and a leaf with a number.
std::string url(Random& random, std::uint64_t first_host, std::uint64_t hosts, bool has_leaf) {
  static const std::vector<std::string> kWords = {"news", "shop", "item", "user", "page",    "img",      "api",
                                                  "blog", "en",   "de",   "2026", "archive", "products", "search"};
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  Random name(first_host + static_cast<std::uint64_t>(std::pow(static_cast<double>(hosts), u)));
  std::string text = "https://www.";
  for (std::uint64_t i = 4 + name() % 9; i > 0; --i) text += static_cast<char>('a' + name() % 26);
  text += ".org/";
  for (std::uint64_t i = 1 + random() % 3; i > 0; --i) text += kWords[random() % kWords.size()] + "/";
  if (has_leaf) text += fmt::format("{}-{}.html", kWords[random() % kWords.size()], random() % 1'000'000);
  return text;
}

/// All keys that begin with the text.
Range of_prefix(std::string text) {
  Range range{text, std::move(text)};
  range.to.back() = static_cast<char>(range.to.back() + 1);
  return range;
}

Workload urls(std::uint64_t count) {
  Random random(3);
  Workload workload{"URLs", {}, {}};
  while (workload.keys.size() < count) workload.keys.insert(url(random, 0, 2000, true));
  const std::vector<std::string> keys(workload.keys.begin(), workload.keys.end());
  workload.ranges = {
      {"absent host", [](Random& draw) { return of_prefix(url(draw, 1'000'000, 100'000, false)); }},
      {"absent page", [](Random& draw) { return of_prefix(url(draw, 0, 2000, true)); }},
      {"behind a key", [keys](Random& draw) { return of_prefix(keys[draw() % keys.size()] + "?"); }},
  };
  return workload;
}

/// A store of the keys, in one run.
class FilledStore {
 public:
  FilledStore(const Keys& keys, std::uint32_t range_filter_bits) : counting_(memory_) {
    Options options{.memory_bytes = std::uint64_t{1} << 30, .table_bytes = 4 << 20};
    options.range_filter_bits = range_filter_bits;
    open(options);
    for (const std::string& key : keys) need(db_->put(key, std::string(100, 'v')));
    need(db_->compact());
    open(options);
    for (const std::string& key : keys) (void)reads_of({key, key + '\0'});  // Loads indexes and filters.
  }
  std::uint64_t reads_of(const Range& range) {
    const std::uint64_t before = counting_.reads();
    const Iterator at = db_->scan({.from = range.from, .to = range.to, .fills_cache = false});
    need(at.status());
    return counting_.reads() - before;
  }
  [[nodiscard]] std::uint64_t filter_bytes() const { return db_->stats().memory.filters; }

 private:
  void open(const Options& options) {
    db_.reset();
    Result<DB> opened =
        DB::open("/store", options, {.files = &counting_, .random_seed = 7, .runs_in_background = false});
    need(opened.status());
    db_.emplace(std::move(*opened));
  }

  MemoryFileSystem memory_;
  test::CountingFileSystem counting_;
  std::optional<DB> db_;
};

void measure(const Workload& workload, std::uint64_t scans) {
  std::uint64_t bytes_without = 0;
  for (const std::uint32_t bits : {0, 12, 16, 20}) {
    FilledStore store(workload.keys, bits);
    if (bits == 0) bytes_without = store.filter_bytes();
    const double taken = 8.0 * static_cast<double>(store.filter_bytes() - bytes_without);
    for (const Ranges& ranges : workload.ranges) {
      Random random(4);
      std::uint64_t reads = 0;
      for (std::uint64_t done = 0; done < scans;) {
        const Range range = ranges.draw(random);
        const auto first = workload.keys.lower_bound(range.from);
        if (first != workload.keys.end() && *first < range.to) continue;
        reads += store.reads_of(range);
        ++done;
      }
      fmt::print("| {} | {} | {} | {:.1f} | {:.4f} |\n", workload.name, ranges.name, bits,
                 taken / static_cast<double>(workload.keys.size()),
                 static_cast<double>(reads) / static_cast<double>(scans));
    }
  }
}

void run(std::uint64_t keys, std::uint64_t scans) {
  fmt::print("| keys | ranges without a key | bits asked for | bits per key | reads per scan |\n");
  fmt::print("|---|---|---:|---:|---:|\n");
  measure(integers(keys), scans);
  measure(numbers_workload("timestamps, µs, binary", times(keys, 1'700'000'000'000'000, 500, 5'000'000), big_endian,
                           {16, 256}),
          scans);
  measure(numbers_workload("timestamps, ms, decimal", times(keys, 1'700'000'000'000, 50, 500'000), decimal, {16, 256}),
          scans);
  measure(urls(keys), scans);
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using namespace tamis::bench;
  std::uint64_t keys = 200'000;
  std::uint64_t scans = 20'000;
  if (!read_options(argc, argv, {{"--keys", into(keys)}, {"--scans", into(scans)}})) return 2;
  run(keys, scans);
  return 0;
}
