// The times that docs/SCALE.md multiplies (ScaleConstants): what one thread's processor needs for an entry of a flush
// and of a compaction, for a table and a journal's entry when a store is opened, for a byte of an index or filter.
//
//     scale_bench [--entries N] [--rounds N] [--directory DIR] [--json FILE]
//
// Processor time of the process, in which nothing runs in the background, so that programs beside it count little and
// the disk does not; a figure is the median over the rounds. What an entry and what a byte costs is told apart by
// values of 100 and 1000 bytes.
#include <fmt/core.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>

#include "base/bytes.h"
#include "base/random.h"
#include "bench_run.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

constexpr std::size_t kKeyBytes = 16;
constexpr std::uint64_t kRuns = 8;  // Merged by one compaction.

struct Settings {
  std::uint64_t entries = 1'000'000;
  std::uint64_t rounds = 5;
  std::string directory = std::filesystem::temp_directory_path();
  std::string json;
};

[[noreturn]] void fail(const std::string& why) {
  fmt::print(stderr, "scale_bench: {}\n", why);
  std::exit(2);
}

void need(const Status& status) {
  if (!status.ok()) fail(status.to_text());
}

template <typename Work>
double processor_ns(const Work& work) {
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

std::string key_of(std::uint64_t number) {
  std::string key(kKeyBytes, '\0');
  store_be(key.data(), remix(number));
  store_be(key.data() + 8, remix(~number));
  return key;
}

Options store_options() {
  Options options;
  options.memory_bytes = std::uint64_t{2} << 30;
  options.memtable_bytes = std::uint64_t{512} << 20;
  options.compaction = "manual";
  return options;
}

DB open_store(const std::string& path, const Options& options) {
  Result<DB> opened = DB::open(path, options, {.runs_in_background = false});
  need(opened.status());
  return std::move(opened).value();
}

void put(DB& db, std::uint64_t first, std::uint64_t end, std::size_t value_bytes) {
  SplitMix64 random(first);
  std::string value(value_bytes, '\0');
  Batch batch;
  for (std::uint64_t i = first; i < end; ++i) {
    for (std::size_t at = 0; at + 8 <= value.size(); at += 8) store_be(value.data() + at, random.next());
    batch.put(key_of(i), value);
    if (batch.byte_size() < 100'000) continue;
    need(db.write(batch));
    batch.clear();
  }
  need(db.write(batch));
}

/// A fresh store with these entries, closed; in tables, or only in its journal.
void make_store(const std::string& path, const Options& options, std::uint64_t entries, bool in_tables) {
  std::filesystem::remove_all(path);
  DB db = open_store(path, options);
  put(db, 0, entries, 100);
  if (!in_tables) return;
  need(db.flush());
  need(db.compact());
}

/// Nanoseconds per entry.
struct Rewriting {
  double flush = 0;
  double merge = 0;
};

Rewriting measure_rewriting(const std::string& path, std::uint64_t entries, std::size_t value_bytes) {
  std::filesystem::remove_all(path);
  DB db = open_store(path, store_options());
  double flush = 0;
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    put(db, entries * run / kRuns, entries * (run + 1) / kRuns, value_bytes);
    flush += processor_ns([&] { need(db.flush()); });
  }
  const double merge = processor_ns([&] { need(db.compact()); });
  return {flush / static_cast<double>(entries), merge / static_cast<double>(entries)};
}

using Figures = std::map<std::string, Samples>;

void add_rewriting(const Settings& settings, const std::string& path, Figures& figures) {
  constexpr std::size_t kSmall = 100;
  constexpr std::size_t kLarge = 1000;
  const Rewriting small = measure_rewriting(path, settings.entries, kSmall);
  const Rewriting large = measure_rewriting(path, std::max(kRuns, settings.entries / 8), kLarge);
  const auto add = [&](const std::string& what, double of_small, double of_large) {
    const double per_byte = (of_large - of_small) / (kLarge - kSmall);
    figures[what + "_ns_per_byte"].values.push_back(per_byte);
    figures[what + "_ns_per_entry"].values.push_back(of_small - per_byte * (kSmall + kKeyBytes));
  };
  add("flush", small.flush, large.flush);
  add("merge", small.merge, large.merge);
}

void add_opening(const Settings& settings, const std::string& path, Figures& figures) {
  Options options = store_options();
  options.table_bytes = 4096;
  make_store(path, options, settings.entries / 4, /*in_tables=*/true);
  const std::size_t before = mallinfo2().uordblks;
  std::optional<DB> db;
  const double nanoseconds = processor_ns([&] { db.emplace(open_store(path, options)); });
  const auto bytes = static_cast<double>(mallinfo2().uordblks - before);
  double tables = 0;
  for (const Stats::Level& level : db->stats().levels) tables += static_cast<double>(level.tables);
  figures["open_ns_per_table"].values.push_back(nanoseconds / tables);
  figures["memory_bytes_per_table"].values.push_back(bytes / tables);
}

void add_replay(const Settings& settings, const std::string& path, Figures& figures) {
  make_store(path, store_options(), settings.entries, /*in_tables=*/false);
  const double nanoseconds = processor_ns([&] { open_store(path, store_options()); });
  figures["replay_ns_per_entry"].values.push_back(nanoseconds / static_cast<double>(settings.entries));
}

/// One key of each of many places, twice: the first time its table's index and filter are read, too.
void add_loading(const Settings& settings, const std::string& path, Figures& figures) {
  Options options = store_options();
  options.table_bytes = std::uint64_t{4} << 20;
  make_store(path, options, settings.entries, /*in_tables=*/true);
  const DB db = open_store(path, options);
  const auto ask = [&] {
    std::string value;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      need(db.get(key_of(i * settings.entries / 1000), &value, {.fills_cache = false}).status());
    }
  };
  const double with_loading = processor_ns(ask);
  const double without = processor_ns(ask);
  const Stats stats = db.stats();
  figures["load_ns_per_byte"].values.push_back((with_loading - without) /
                                               static_cast<double>(stats.memory.indexes + stats.memory.filters));
}

nlohmann::json measure(const Settings& settings) {
  const std::string path = settings.directory + fmt::format("/scale_bench.{}", getpid());
  Figures figures;
  for (std::uint64_t round = 0; round < settings.rounds; ++round) {
    add_rewriting(settings, path, figures);
    add_opening(settings, path, figures);
    add_replay(settings, path, figures);
    add_loading(settings, path, figures);
  }
  std::filesystem::remove_all(path);
  nlohmann::json constants;
  for (const auto& [name, samples] : figures) {
    fmt::print("{:<24} {:>10.3f} [{:.3f} - {:.3f}]\n", name, samples.median(), samples.low(), samples.high());
    constants[name] = {{"median", samples.median()}, {"low", samples.low()}, {"high", samples.high()}};
  }
  return {{"date", today()},
          {"machine", machine()},
          {"entries", settings.entries},
          {"rounds", settings.rounds},
          {"constants", constants}};
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using namespace tamis::bench;
  Settings settings;
  const bool is_read = read_options(argc, argv,
                                    {{"--entries", into(settings.entries)},
                                     {"--rounds", into(settings.rounds)},
                                     {"--directory", into(settings.directory)},
                                     {"--json", into(settings.json)}});
  if (!is_read) return 2;
  settings.entries = std::max<std::uint64_t>(1000, settings.entries);
  return write_json(measure(settings), settings.json);
}
