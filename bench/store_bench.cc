// Stores side by side: fill, hit, absent, scan. One run, contestants alternating, ratios of medians.
//
//     store_bench [--entries N] [--rounds N] [--directory DIR] [--json FILE]
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "bench_run.h"
#include "store/contestant.h"

namespace tamis::bench {
namespace {

struct Settings {
  std::uint64_t entries = 1'000'000;
  std::uint64_t rounds = 5;
  std::string directory = ".";
  std::string json;
};

constexpr std::size_t kValueBytes = 100;  // Half of them compressible.
constexpr std::size_t kBatch = 1000;
constexpr std::uint64_t kMostLookups = 200'000;

/// The i-th key in random order: 16 bytes that look random. Odd numbers are never put in.
std::string key_of(std::uint64_t i) {
  std::string key;
  append_be(key, remix(i + 1));
  append_be(key, remix(i ^ 0x5bd1e995));
  return key;
}

std::string value_of(std::uint64_t i) {
  std::string value;
  SplitMix64 random(i);
  while (value.size() < kValueBytes / 2) append_le(value, random.next());
  value.resize(kValueBytes, 'v');
  return value;
}

void stop(const std::string& why) {
  fmt::print(stderr, "store_bench: {}\n", why);
  std::exit(3);
}

/// One row of the table: a number per contestant and round.
struct Row {
  std::string workload;
  std::string unit;
  bool more_is_better = false;
  std::map<std::string, Samples> samples;
};

class Bench {
 public:
  explicit Bench(Settings settings) : settings_(std::move(settings)) {
    contestants_.push_back(make_tamis());
    for (auto make : {&make_rocksdb, &make_lmdb}) {
      if (auto contestant = make()) contestants_.push_back(std::move(contestant));
    }
    root_ = settings_.directory + "/store_bench.tmp";
  }

  int run() {
    std::filesystem::remove_all(root_);
    for (std::uint64_t round = 0; round < settings_.rounds; ++round) {
      for (std::size_t i = 0; i < contestants_.size(); ++i) fill_in_batches(*contestants_[i], i);
    }
    for (std::size_t i = 0; i < contestants_.size(); ++i) fill_singly(*contestants_[i], i);
    for (std::uint64_t round = 0; round < settings_.rounds; ++round) {
      for (const auto& contestant : contestants_) look_up(*contestant, round);
    }
    for (const auto& contestant : contestants_) contestant->close();
    std::filesystem::remove_all(root_);
    print();
    return write_json(to_json(), settings_.json);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_of(const std::function<void()>& work) {
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::string fresh_directory(std::size_t i) {
    const std::string directory = fmt::format("{}/{}", root_, i);
    std::filesystem::remove_all(directory);
    std::filesystem::create_directories(directory);
    return directory;
  }

  void fill_in_batches(StoreContestant& store, std::size_t i) {
    store.open(fresh_directory(i));
    const double seconds = seconds_of([&] {
      std::vector<std::pair<std::string, std::string>> batch;
      for (std::uint64_t n = 0; n < settings_.entries; ++n) {
        batch.emplace_back(key_of(2 * n), value_of(2 * n));
        if (batch.size() == kBatch || n + 1 == settings_.entries) {
          store.put_batch(batch);
          batch.clear();
        }
      }
    });
    add("fill random, batches of 1000", "kops/s", true, store, static_cast<double>(settings_.entries) / seconds / 1e3);
    store.close();
  }

  /// Once per contestant; the store stays open for the lookups. LMDB commits every put and gets a tenth of them singly.
  void fill_singly(StoreContestant& store, std::size_t i) {
    store.open(fresh_directory(i));
    const std::uint64_t singly = store.name().starts_with("LMDB") ? settings_.entries / 10 : settings_.entries;
    const double seconds = seconds_of([&] {
      for (std::uint64_t n = 0; n < singly; ++n) store.put(key_of(2 * n), value_of(2 * n));
    });
    add("fill random, single puts", "kops/s", true, store, static_cast<double>(singly) / seconds / 1e3);
    std::vector<std::pair<std::string, std::string>> rest;
    for (std::uint64_t n = singly; n < settings_.entries; ++n) {
      rest.emplace_back(key_of(2 * n), value_of(2 * n));
      if (rest.size() == kBatch || n + 1 == settings_.entries) {
        store.put_batch(rest);
        rest.clear();
      }
    }
    add("settle", "s", false, store, seconds_of([&] { store.settle(); }));
  }

  void look_up(StoreContestant& store, std::uint64_t round) {
    const std::uint64_t lookups = std::min(settings_.entries, kMostLookups);
    std::string buffer;
    std::vector<std::uint64_t> numbers;
    std::vector<std::string> hits;
    std::vector<std::string> absent;
    SplitMix64 random(round);
    for (std::uint64_t i = 0; i < lookups; ++i) {
      numbers.push_back(2 * random.below(settings_.entries));
      hits.push_back(key_of(numbers.back()));
      absent.push_back(key_of(2 * random.below(settings_.entries) + 1));
    }
    for (const std::string& key : hits) store.get(key, buffer);  // Warm.
    const double hit = seconds_of([&] {
      for (const std::string& key : hits) {
        if (!store.get(key, buffer)) stop(store.name() + " lost a key");
      }
    });
    for (std::uint64_t i = 0; i < lookups; ++i) {
      if (!store.get(hits[i], buffer) || buffer != value_of(numbers[i])) stop(store.name() + " returned a wrong value");
    }
    const double miss = seconds_of([&] {
      for (const std::string& key : absent) {
        if (store.get(key, buffer)) stop(store.name() + " found a key that is not there");
      }
    });
    const std::uint64_t scans = lookups / 100 + 1;
    const double scan = seconds_of([&] {
      for (std::uint64_t i = 0; i < scans; ++i) store.scan(hits[i], 100);
    });
    add("get, hit", "ns", false, store, hit * 1e9 / static_cast<double>(lookups));
    add("get, absent", "ns", false, store, miss * 1e9 / static_cast<double>(lookups));
    add("seek + 100 entries", "us", false, store, scan * 1e6 / static_cast<double>(scans));
  }

  void add(const std::string& workload, const std::string& unit, bool more_is_better, const StoreContestant& store,
           double value) {
    for (Row& row : rows_) {
      if (row.workload != workload) continue;
      row.samples[store.name()].values.push_back(value);
      return;
    }
    rows_.push_back({workload, unit, more_is_better, {{store.name(), Samples{{value}}}}});
  }

  void print() const {
    fmt::print("{} entries of 16 + {} bytes; median of {} rounds [lowest-highest]; ratio to tamis\n", settings_.entries,
               kValueBytes, settings_.rounds);
    for (const Row& row : rows_) {
      fmt::print("{} ({}, {} is better)\n", row.workload, row.unit, row.more_is_better ? "more" : "less");
      for (const auto& contestant : contestants_) {
        const Samples& samples = row.samples.at(contestant->name());
        fmt::print("  {:16} {:10.1f} [{:.1f}-{:.1f}]  {:.2f}\n", contestant->name(), samples.median(), samples.low(),
                   samples.high(), samples.median() / row.samples.at("tamis").median());
      }
    }
  }

  [[nodiscard]] nlohmann::json to_json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const Row& row : rows_) {
      for (const auto& [name, samples] : row.samples) {
        rows.push_back({{"workload", row.workload},
                        {"engine", name},
                        {"unit", row.unit},
                        {"median", samples.median()},
                        {"low", samples.low()},
                        {"high", samples.high()},
                        {"ratio", samples.median() / row.samples.at("tamis").median()}});
      }
    }
    return {{"date", today()},
            {"machine", machine()},
            {"entries", settings_.entries},
            {"rounds", settings_.rounds},
            {"rows", rows}};
  }

  Settings settings_;
  std::string root_;
  std::vector<std::unique_ptr<StoreContestant>> contestants_;
  std::vector<Row> rows_;
};

bool parse(int count, char** arguments, Settings& settings) {
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = arguments[i + 1];
    const std::optional<std::uint64_t> number = parse_count(value);
    if (name == "--entries" && number) {
      settings.entries = *number;
    } else if (name == "--rounds" && number) {
      settings.rounds = *number;
    } else if (name == "--directory") {
      settings.directory = value;
    } else if (name == "--json") {
      settings.json = value;
    } else {
      return false;
    }
  }
  return count % 2 == 1;
}

}  // namespace
}  // namespace tamis::bench

int main(int count, char** arguments) {
  tamis::bench::Settings settings;
  if (!tamis::bench::parse(count, arguments, settings)) {
    fmt::print(stderr, "usage: store_bench [--entries N] [--rounds N] [--directory DIR] [--json FILE]\n");
    return 2;
  }
  return tamis::bench::Bench(settings).run();
}
