// tamis demo: what looking up an absent key costs in a store of 100 sorted runs, without and with filters.
#include <fmt/core.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp is POSIX.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/draw.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "show/progress.h"
#include "tamis/db.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kBatch = 1000;
constexpr std::size_t kValueBytes = 32;
constexpr std::uint64_t kMisses = 10'000;
constexpr std::uint64_t kWarmUp = 500;
constexpr std::uint64_t kAbsentFrom = std::uint64_t{1} << 32;  // Beyond the keys of any demo store.

using Clock = std::chrono::steady_clock;

/// A folder under TMPDIR, removed with its contents by the destructor.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const char* parent = std::getenv("TMPDIR");
    path_ = fmt::format("{}/tamis-demo-XXXXXX", parent != nullptr && *parent != '\0' ? parent : "/tmp");
    if (::mkdtemp(path_.data()) == nullptr) system_error(path_, "cannot create");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Sixteen hexadecimal digits, evenly spread, all distinct.
std::string demo_key(std::uint64_t number) { return fmt::format("{:016x}", mixed({number})); }

struct Experiment {
  std::string name;
  std::string_view filter;
  std::vector<std::uint64_t> run_keys;  ///< Oldest first.

  [[nodiscard]] std::uint64_t keys() const {
    return std::accumulate(run_keys.begin(), run_keys.end(), std::uint64_t{0});
  }
};

/// Per lookup of an absent key, except the first four.
struct Measured {
  std::string name;
  std::uint64_t runs = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  double tables_searched = 0;
  double blocks_read = 0;
  double nanoseconds = 0;
};

std::vector<std::uint64_t> equal_runs() { return std::vector<std::uint64_t>(100, 5000); }

/// A store after some compactions: one large old run, nine smaller ones, ninety small new ones.
std::vector<std::uint64_t> unequal_runs() {
  std::vector<std::uint64_t> keys = {300'000};
  keys.insert(keys.end(), 9, 10'000);
  keys.insert(keys.end(), 90, 1000);
  return keys;  // Repeated in print_result.
}

/// Large enough that each run is one flush.
Options options_for_building(std::string_view filter) {
  Options options;
  options.memory_bytes = std::uint64_t{512} << 20;
  options.memtable_bytes = std::uint64_t{128} << 20;
  options.filter = filter;
  options.compaction = "manual";
  return options;
}

/// So small that most blocks are not in memory, as in a store larger than memory.
Options options_for_reading() {
  Options options;
  options.memory_bytes = std::uint64_t{16} << 20;
  options.read_only = true;
  options.compaction = "manual";
  return options;
}

void stop_if_interrupted() {
  if (DelayInterrupt::is_pending()) throw CommandError(kExitInterrupted, "interrupted");
}

struct Counts {
  std::uint64_t runs = 0;
  std::uint64_t keys = 0;
  std::uint64_t filter_bytes = 0;
  std::uint64_t searched = 0;
  std::uint64_t blocks_read = 0;
};

Counts counts_of(const DB& db) {
  Counts counts;
  for (const Stats::Level& level : db.stats().levels) {
    counts.runs += level.runs;
    counts.keys += level.entries;
    counts.filter_bytes += level.filter_bytes;
    counts.searched += level.probes - level.negatives;
    counts.blocks_read += level.blocks_read;
  }
  return counts;
}

void look_up_absent(const DB& db, std::uint64_t first, std::uint64_t count) {
  std::string value;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i % 64 == 0) stop_if_interrupted();
    if (need(db.get(demo_key(kAbsentFrom + first + i), &value))) {
      throw CommandError(kExitCorruption, "found a key that was never written");
    }
  }
}

Measured measure_misses(const DB& db, const std::string& name) {
  look_up_absent(db, 0, kWarmUp);
  const Counts before = counts_of(db);
  const auto begun = Clock::now();
  look_up_absent(db, kWarmUp, kMisses);
  const double nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
  const Counts after = counts_of(db);
  constexpr auto kPerMiss = static_cast<double>(kMisses);
  return {.name = name,
          .runs = after.runs,
          .keys = after.keys,
          .filter_bytes = after.filter_bytes,
          .tables_searched = static_cast<double>(after.searched - before.searched) / kPerMiss,
          .blocks_read = static_cast<double>(after.blocks_read - before.blocks_read) / kPerMiss,
          .nanoseconds = nanoseconds / kPerMiss};
}

std::string time_text(double nanoseconds) {
  if (nanoseconds < 1000) return fmt::format("{:.0f} ns", nanoseconds);
  return fmt::format("{:.{}f} us", nanoseconds / 1000, nanoseconds < 100'000 ? 1 : 0);
}

double times_as_fast(const Measured& row, const Measured& base) { return base.nanoseconds / row.nanoseconds; }

void print_rows(const std::vector<Measured>& rows) {
  Table table({{"", Table::Align::kLeft}, {"filters"}, {"tables searched"}, {"blocks read"}, {"time"}, {"speed"}});
  for (const Measured& row : rows) {
    table.add({row.name, human_bytes(row.filter_bytes), fmt::format("{:.3f}", row.tables_searched),
               fmt::format("{:.3f}", row.blocks_read), time_text(row.nanoseconds),
               fmt::format("{:.0f} x", times_as_fast(row, rows.front()))});
  }
  standard_output().print("{} sorted runs. Lookup of an absent key, average of {}:\n\n{}\n", rows[0].runs,
                          with_thousands(kMisses), table.text());
}

JsonObject as_json(const Measured& row) {
  return JsonObject()
      .add("name", row.name)
      .add("runs", row.runs)
      .add("keys", row.keys)
      .add("misses", kMisses)
      .add("filter_bytes", row.filter_bytes)
      .add("tables_searched", row.tables_searched)
      .add("blocks_read", row.blocks_read)
      .add("nanoseconds", row.nanoseconds);
}

void print_sentences(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    for (const std::string& line : wrap(sentence, 80)) standard_output().print("{}\n", line);
    standard_output().write("\n");
  }
}

double bits_per_key(const Measured& row) {
  return 8 * static_cast<double>(row.filter_bytes) / static_cast<double>(row.keys);
}

/// The table's result in words.
void print_result(const Measured& none, const Measured& equal, const Measured& planned) {
  standard_output().print("{}\n", bold("In words:"));
  print_sentences({
      fmt::format(
          "The question: look up {} absent keys, one at a time, in a store of {} sorted runs, any of which could "
          "hold the key.",
          with_thousands(kMisses), none.runs),
      fmt::format("Without filters, a lookup searched {:.1f} tables and took {}. It read {:.1f} blocks from files; the "
                  "rest were in the cache.",
                  none.tables_searched, time_text(none.nanoseconds), none.blocks_read),
      fmt::format("With filters of {:.1f} bits per key, {} for {} keys, it searched {:.2f} tables and took {}: {:.0f} "
                  "times as fast. Each of the {} filters passes about one absent key in {:.0f}.",
                  bits_per_key(equal), human_bytes(equal.filter_bytes), with_thousands(equal.keys),
                  equal.tables_searched, time_text(equal.nanoseconds), times_as_fast(equal, none), equal.runs,
                  static_cast<double>(equal.runs) / equal.tables_searched),
      fmt::format(
          "The third store has as many runs, but of unequal sizes, as compaction leaves them: one of 300,000 keys, 9 "
          "of 10,000, 90 of 1,000. With {:.1f} bits per key it searched {:.3f} tables and took {}: {:.0f} times "
          "as fast as without filters. The plan gives small runs more bits per key than the large one, which "
          "costs little memory; only one lookup in {:.0f} searched a table at all.",
          bits_per_key(planned), planned.tables_searched, time_text(planned.nanoseconds), times_as_fast(planned, none),
          1 / planned.tables_searched),
  });
}

void print_hit(const DB& db) {
  const std::string key = demo_key(12'345);
  const auto begun = Clock::now();
  const auto value = need(db.get(key));
  const double nanoseconds = std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
  standard_output().print("{} {}: {} ({})\n\n", bold("A hit:"), key, value ? *value : "missing",
                          time_text(nanoseconds));
}

void print_scan(const DB& db) {
  constexpr std::string_view kPrefix = "c0ff";
  standard_output().print("{} keys that begin with {}, from all runs\n", bold("A scan:"), kPrefix);
  Iterator entry = db.scan({.prefix = kPrefix});
  for (int shown = 0; entry.valid() && shown < 10; entry.next(), ++shown) {
    standard_output().print("  {}  {}\n", entry.key(), entry.value());
  }
  need(entry.status());
  standard_output().write("\n");
}

/// A few of the hundred tables ruled out are enough.
void print_explanation(const DB& db) {
  Explanation explanation = need(db.explain(demo_key(12'345)));
  std::vector<Explanation::Step> kept;
  std::uint64_t ruled_out = 0;
  for (Explanation::Step& step : explanation.steps) {
    if (step.outcome != "ruled out" || ++ruled_out <= 3) kept.push_back(std::move(step));
  }
  explanation.steps = std::move(kept);
  standard_output().print("{}\n{}", bold("The hit, explained:"), explanation.to_text());
  if (ruled_out > 3) standard_output().print("and {} more tables ruled out by their filters\n", ruled_out - 3);
}

/// Fills a new store with one sorted run per size, in this order, with keys 0, 1, 2, …; nothing is merged.
void make_runs(const std::string& path, const Experiment& experiment, show::Progress& progress) {
  DB db = need(DB::open(path, options_for_building(experiment.filter)));
  std::uint64_t next = 0;
  Batch batch;
  for (const std::uint64_t keys : experiment.run_keys) {
    for (const std::uint64_t end = next + keys; next < end;) {
      const std::uint64_t count = std::min(kBatch, end - next);
      batch.clear();
      for (const std::uint64_t last = next + count; next < last; ++next) {
        batch.put(demo_key(next), fmt::format("{:.>{}}", next, kValueBytes));
      }
      need(db.write(batch));
      stop_if_interrupted();
      progress.advance(count);
    }
    need(db.flush());
  }
  need(db.close());
}

/// Prints all measurements; `db` is the store of the last experiment.
void print_all(const DB& db, const std::vector<Measured>& rows) {
  print_rows(rows);
  print_hit(db);
  print_scan(db);
  print_explanation(db);
  standard_output().write("\n");
  print_result(rows[0], rows[1], rows[2]);
}

}  // namespace

int run_demo(Arguments arguments) {
  CommandLine line({.summary =
                        "The headline experiment, on a temporary store: looks up absent keys in 100 sorted runs, "
                        "without filters, with filters, and with unequal runs and planned filters. Then shows a hit, "
                        "a scan and an explained lookup, and sums up the result. Takes a few seconds.",
                    .example = "  tamis demo",
                    .common = kJson | kQuiet | kNoProgress});
  if (!line.read(arguments)) return kExitOk;

  const std::vector<Experiment> experiments = {
      {"no filters", "none", equal_runs()}, {"filters", "line", equal_runs()}, {"planned", "auto", unequal_runs()}};
  const DelayInterrupt until_removed;
  const TemporaryFolder folder;
  std::vector<DB> stores;
  std::vector<Measured> rows;
  {
    std::uint64_t keys = 0;
    for (const Experiment& experiment : experiments) keys += experiment.keys();
    show::Progress progress("creating 100 runs, three times", keys, line.common().wants_progress());
    for (const Experiment& experiment : experiments) {
      const std::string path = folder.path(experiment.name);
      make_runs(path, experiment, progress);
      stores.push_back(need(DB::open(path, options_for_reading())));
      rows.push_back(measure_misses(stores.back(), experiment.name));
    }
  }
  if (line.common().json) {
    for (const Measured& row : rows) standard_output().write(as_json(row).line());
  } else {
    print_all(stores.back(), rows);
  }
  return kExitOk;
}

}  // namespace tamis::cli
