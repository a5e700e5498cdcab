// The filter table of docs/FILTERS.md: tamis's kinds, the memory floor and Debian's RocksDB filters in one run,
// alternating.
//
//     filter_bench [--keys 100000,1000000] [--rounds 7] [--blocks 64] [--json FILE] [--only NAME]
//
// Queries are generated 4096 at a time, untimed; a cell is the median over rounds, with the lowest and highest.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "base/hash.h"
#include "bench_run.h"
#include "filter_contestants.h"

namespace tamis::bench {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::uint64_t kMaxStringKeys = 10'000'000;

struct Options {
  std::vector<std::uint64_t> keys = {100'000, 1'000'000};
  std::uint64_t rounds = 7;
  std::uint64_t blocks = 64;
  std::string json;
  std::string only;
};

double nanoseconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

/// Text keys in one buffer, with views.
class KeyTexts {
 public:
  explicit KeyTexts(std::span<const std::uint64_t> hashes) : text_(hashes.size() * kKeyBytes, '\0') {
    views_.reserve(hashes.size());
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      write_key(hashes[i], text_.data() + i * kKeyBytes);
      views_.emplace_back(text_.data() + i * kKeyBytes, kKeyBytes);
    }
  }
  [[nodiscard]] std::span<const std::string_view> views() const { return views_; }

 private:
  std::string text_;
  std::vector<std::string_view> views_;
};

/// These hashes, or their texts, to call `use` with.
template <typename Use>
void with_keys(std::span<const std::uint64_t> hashes, bool as_texts, const Use& use) {
  if (!as_texts) return use(Keys(hashes));
  const KeyTexts texts(hashes);
  use(Keys(texts.views()));
}

enum class Mix { kMiss, kHalf, kHit };
constexpr std::array kMixes = {std::pair{Mix::kMiss, "miss"}, std::pair{Mix::kHalf, "half"},
                               std::pair{Mix::kHit, "hit"}};

std::vector<std::uint64_t> make_queries(Mix mix, std::uint64_t keys, std::uint64_t number) {
  std::vector<std::uint64_t> queries(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t dice = remix(~(number * kBlock + i));
    const bool hit = mix == Mix::kHit || (mix == Mix::kHalf && (dice >> 63) != 0);
    queries[i] = hit ? member_hash(fast_range(remix(dice), keys)) : stranger_hash(number * kBlock + i);
  }
  return queries;
}

/// One contestant's cells: build, and a lookup cell per "hash|text single|many miss|half|hit".
struct Row {
  std::unique_ptr<Contestant> contestant;
  double bits_per_key = 0;
  double rate = 0;
  Samples build;
  std::map<std::string, Samples> lookups;
};

class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  nlohmann::json run(std::uint64_t keys) {
    std::vector<Row> rows = make_rows();
    std::vector<std::uint64_t> hashes(keys);
    for (std::uint64_t i = 0; i < keys; ++i) hashes[i] = member_hash(i);
    nlohmann::json result;
    for (const bool as_texts : {false, true}) {
      if (as_texts && keys > kMaxStringKeys) break;
      build_all(rows, hashes, as_texts);
      measure_rates(rows, keys, as_texts);
      for (std::uint64_t round = 0; round < options_.rounds; ++round) look_up_all(rows, keys, round, as_texts);
      result.update(report(rows, keys, as_texts));
    }
    return result;
  }

  [[nodiscard]] std::uint64_t checksum() const { return checksum_; }

 private:
  [[nodiscard]] std::vector<Row> make_rows() const {
    std::vector<std::unique_ptr<Contestant>> all;
    all.push_back(make_floor(10));
    all.push_back(make_tamis("line", "bits", 10));
    all.push_back(make_tamis("line", "bits", 16));
    all.push_back(make_tamis("ribbon", "rate", 1 / 128.0));
    all.push_back(make_tamis("ribbon", "rate", 1 / 256.0));
    all.push_back(make_tamis("ribbon", "rate", 1 / 4096.0));
    all.push_back(make_tamis("fuse", "rate", 1 / 16.0));
    all.push_back(make_tamis("fuse", "rate", 1 / 256.0));
    all.push_back(make_tamis("fuse", "rate", 1 / 4096.0));
    all.push_back(make_tamis("fuse", "rate", 1 / 65536.0));
    all.push_back(make_tamis("split", "bits", 10));
    all.push_back(make_tamis("bloom", "bits", 10));
    all.push_back(make_tamis("cuckoo", "rate", 0.002));
    all.push_back(make_tamis("counting", "rate", 0.01));
    all.push_back(make_tamis("scalable", "rate", 0.01));
#ifdef TAMIS_HAS_ROCKSDB
    for (const char* policy : {"bloom", "ribbon"}) {
      for (const double bits_per_key : {10, 16}) all.push_back(make_rocksdb(policy, bits_per_key));
    }
#endif
    std::vector<Row> rows;
    for (std::unique_ptr<Contestant>& one : all) {
      if (one->name().find(options_.only) == std::string::npos && !one->name().starts_with("floor")) continue;
      rows.emplace_back().contestant = std::move(one);
    }
    return rows;
  }

  void build_all(std::vector<Row>& rows, std::span<const std::uint64_t> hashes, bool as_texts) const {
    for (Row& row : rows) row.build.values.clear();
    const std::uint64_t most = hashes.size() > 20'000'000 ? 1 : as_texts ? 3 : 5;
    with_keys(hashes, as_texts, [&](const Keys& keys) {
      for (std::uint64_t round = 0; round < std::min(options_.rounds, most); ++round) {
        for (Row& row : rows) {
          if (!row.contestant->takes(as_texts)) continue;
          const double spent = nanoseconds([&] { row.contestant->build(keys); });
          row.build.values.push_back(spent / static_cast<double>(hashes.size()));
        }
      }
    });
  }

  /// Of each contestant once: asked with hashes if it takes them.
  void measure_rates(std::vector<Row>& rows, std::uint64_t keys, bool as_texts) {
    std::vector<std::uint64_t> strangers(as_texts ? 1'000'000 : 4'000'000);
    const std::uint64_t first = std::uint64_t{1} << (as_texts ? 41 : 40);
    for (std::uint64_t i = 0; i < strangers.size(); ++i) strangers[i] = stranger_hash(first + i);
    with_keys(strangers, as_texts, [&](const Keys& probes) {
      for (Row& row : rows) {
        if (!row.contestant->takes(as_texts) || (as_texts && row.contestant->takes(false))) continue;
        const std::uint64_t maybe = row.contestant->count_many(probes);
        row.rate = static_cast<double>(maybe) / static_cast<double>(strangers.size());
        row.bits_per_key = 8.0 * static_cast<double>(row.contestant->bytes()) / static_cast<double>(keys);
        checksum_ += maybe;
      }
    });
  }

  static std::string cell_name(bool as_texts, bool many, const char* mix) {
    return fmt::format("{} {} {}", as_texts ? "text" : "hash", many ? "many" : "single", mix);
  }

  void look_up_all(std::vector<Row>& rows, std::uint64_t keys, std::uint64_t round, bool as_texts) {
    for (const auto& [mix, mix_name] : kMixes) {
      for (const bool many : {false, true}) {
        for (Row& row : rows) {
          if (!row.contestant->takes(as_texts)) continue;
          row.lookups[cell_name(as_texts, many, mix_name)].values.push_back(
              look_up(*row.contestant, keys, mix, many, as_texts, round));
        }
      }
    }
  }

  double look_up(const Contestant& contestant, std::uint64_t keys, Mix mix, bool many, bool as_texts,
                 std::uint64_t round) {
    double spent = 0;
    for (std::uint64_t block = 0; block < options_.blocks; ++block) {
      const std::vector<std::uint64_t> queries = make_queries(mix, keys, round * 1'000'003 + block);
      std::uint64_t maybe = 0;
      with_keys(queries, as_texts, [&](const Keys& asked) {
        spent += nanoseconds([&] { maybe = many ? contestant.count_many(asked) : contestant.count_single(asked); });
      });
      const bool counts = !contestant.name().starts_with("floor");
      TAMIS_CHECK(!counts || mix != Mix::kHit || maybe == kBlock);
      checksum_ += maybe;
    }
    return spent / (static_cast<double>(options_.blocks) * kBlock);
  }

  static nlohmann::json cell_json(const Samples& samples) {
    const auto rounded = [](double x) { return std::round(x * 100) / 100; };
    return {{"median", rounded(samples.median())}, {"low", rounded(samples.low())}, {"high", rounded(samples.high())}};
  }

  /// Prints the table of one pass and returns it as {"hash": [rows]} or {"text": [rows]}.
  nlohmann::json report(const std::vector<Row>& rows, std::uint64_t keys, bool as_texts) const {
    fmt::print("\n{} keys, {} given; nanoseconds, median of {} rounds: miss/half/hit\n", keys,
               as_texts ? "16-byte strings" : "64-bit hashes", options_.rounds);
    fmt::print("{:<20}{:>9}{:>11}{:>8}{:>8}  {:<20}{:<20}\n", "filter", "bits/key", "rate %", "×bound", "build",
               "single", "many");
    nlohmann::json list = nlohmann::json::array();
    for (const Row& row : rows) {
      if (row.contestant->takes(as_texts)) list.push_back(report_row(row, as_texts));
    }
    return {{as_texts ? "text" : "hash", list}};
  }

  static nlohmann::json report_row(const Row& row, bool as_texts) {
    const bool is_filter = !row.contestant->name().starts_with("floor");
    const double ratio = is_filter && row.rate > 0 ? row.bits_per_key / std::log2(1 / row.rate) : 0;
    nlohmann::json json = {{"name", row.contestant->name()}, {"build", cell_json(row.build)}};
    if (is_filter) {
      json["bits_per_key"] = std::round(row.bits_per_key * 1000) / 1000;
      json["rate"] = row.rate;
      json["bound_ratio"] = std::round(ratio * 10000) / 10000;
    }
    std::array<std::string, 2> shown;
    for (const bool many : {false, true}) {
      for (const auto& [mix, mix_name] : kMixes) {
        const Samples& samples = row.lookups.at(cell_name(as_texts, many, mix_name));
        json[many ? "many" : "single"][mix_name] = cell_json(samples);
        shown[many ? 1 : 0] += fmt::format("{}{:.2f}", mix == Mix::kMiss ? "" : "/", samples.median());
      }
    }
    fmt::print("{:<20}{:>9.3f}{:>11.5f}{:>8.3f}{:>8.1f}  {:<20}{:<20}\n", row.contestant->name(),
               is_filter ? row.bits_per_key : 0, is_filter ? 100 * row.rate : 0, ratio, row.build.median(), shown[0],
               shown[1]);
    return json;
  }

  Options options_;
  std::uint64_t checksum_ = 0;
};

bool read_numbers(const std::string& text, std::vector<std::uint64_t>& numbers) {
  numbers.clear();
  for (const std::string& word : split(text)) numbers.push_back(parse_count(word).value_or(0));
  return std::ranges::find(numbers, 0U) == numbers.end();
}

int run(const Options& options) {
  Bench bench(options);
  nlohmann::json all = {
      {"command", "filter_bench"}, {"date", today()}, {"machine", machine()}, {"rounds", options.rounds}};
#ifdef TAMIS_HAS_ROCKSDB
  all["rocksdb"] = rocksdb_version();
#else
  fmt::print("RocksDB is not in this build: install librocksdb-dev and configure again\n");
#endif
  for (const std::uint64_t keys : options.keys) {
    nlohmann::json one = bench.run(keys);
    one["keys"] = keys;
    all["sizes"].push_back(std::move(one));
  }
  fmt::print("\nchecksum of the work: {:016x}\n", bench.checksum());
  return write_json(all, options.json);
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using namespace tamis::bench;
  Options options;
  const bool is_read =
      read_options(argc, argv,
                   {{"--keys", [&](const std::string& text) { return read_numbers(text, options.keys); }},
                    {"--rounds", into(options.rounds)},
                    {"--blocks", into(options.blocks)},
                    {"--json", into(options.json)},
                    {"--only", into(options.only)}});
  return is_read ? run(options) : 2;
}
