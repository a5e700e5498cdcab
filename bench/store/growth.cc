// How costs grow with the number of entries and of sorted runs.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "show/human_text.h"
#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

using show::short_number;

constexpr std::uint64_t kMaxLookups = 100'000;
constexpr std::array<std::uint64_t, 8> kSteps = {2, 20, 100, 200, 400, 600, 800, 1000};  // Thousandths of the load.
constexpr std::array<std::uint64_t, 5> kRunCounts = {1, 10, 50, 100, 200};
constexpr std::uint64_t kMinInARun = 50;
constexpr double kBitsPerKey = 34;  // As in the rows with 100 runs.

double mebibytes(std::uint64_t after, std::uint64_t before) {
  return after > before ? static_cast<double>(after - before) / (1 << 20) : 0;
}

class Growth {
 public:
  explicit Growth(Field& field) : field_(field) {}

  Curves run() {
    field_.part("load", [&] { field_.each([&](Contestant& contestant) { grow(contestant); }, kSteps.back()); });
    for (const std::uint64_t runs : kRunCounts) {
      if (runs > 1 && piled() / runs < kMinInARun) continue;
      field_.part(fmt::format("{} {}", runs, runs == 1 ? "run" : "runs"), [&] {
        field_.each(
            [&](Contestant& contestant) {
              if (contestant.can_keep_runs()) pile_up(contestant, runs);
            },
            kSteps.back() * piled() / field_.entries());
      });
    }
    return {{{"load", load_}, {"runs", runs_}}, text_};
  }

 private:
  /// Loads in steps; after each, measures the step's puts, gets once the store has settled, and memory.
  void grow(Contestant& contestant) {
    text_ +=
        fmt::format("{} as it grows: ns per operation, MiB of anonymous memory\n  {:>14} {:>9} {:>9} {:>9} {:>9}\n",
                    contestant.name(), "entries", "put", "hit", "absent", "MiB");
    trim_memory();
    const std::uint64_t memory_before = anonymous_memory();
    contestant.open(field_.fresh_folder(contestant), {.entries = field_.entries()});
    auto session = contestant.session();
    std::uint64_t first = 0;
    std::uint64_t last_step = 0;
    for (const std::uint64_t step : kSteps) {
      const Stock stock = {data_, std::max(field_.entries() * step / 1000, first + 1)};
      const std::uint64_t count = contestant.single_puts(stock.count - first);
      const Outcome puts = put_singly(*session, stock, first, count);
      put_batches(*session, stock, first + count, stock.count - first - count, kBatch);
      contestant.settle();
      check_all(*session, stock);  // Afterwards, what fits into the cache is in it.
      const Reads reads = read(*session, stock);
      const double memory = mebibytes(anonymous_memory(), memory_before);
      text_ += fmt::format("  {:>14} {:>9} {:>9} {:>9} {:>9}\n", show::with_thousands(stock.count),
                           short_number(puts.nanoseconds()), short_number(reads.hit), short_number(reads.absent),
                           short_number(memory));
      load_.push_back({{"engine", contestant.id()},
                       {"entries", stock.count},
                       {"put_ns", puts.nanoseconds()},
                       {"hit_ns", reads.hit},
                       {"absent_ns", reads.absent},
                       {"anonymous_mib", memory}});
      first = stock.count;
      field_.step(step - std::exchange(last_step, step));
    }
    session.reset();
    contestant.close();
  }

  /// The same entries in this many runs.
  void pile_up(Contestant& contestant, std::uint64_t runs) {
    trim_memory();
    const std::uint64_t memory_before = anonymous_memory();
    const Stock stock = {data_, piled()};
    contestant.open(field_.fresh_folder(contestant),
                    {.entries = stock.count, .bits_per_key = kBitsPerKey, .keeps_runs = true});
    auto session = contestant.session();
    fill_runs(contestant, *session, stock, runs);
    check_all(*session, stock);
    warm(contestant, *session, stock);
    const Reads reads = read(*session, stock);
    const Outcome seeks = seek(*session, stock, kMaxLookups / 100 + 1, 100, 5);
    const double memory = mebibytes(anonymous_memory(), memory_before);
    if (runs_.empty()) {
      text_ += fmt::format("{} entries in more and more runs: ns per operation\n  {:16} {:>5} {:>9} {:>9} {:>10}\n",
                           show::with_thousands(stock.count), "", "runs", "hit", "absent", "seek + 100");
    }
    text_ += fmt::format("  {:16} {:>5} {:>9} {:>9} {:>10}\n", contestant.name(), runs, short_number(reads.hit),
                         short_number(reads.absent), short_number(seeks.nanoseconds()));
    runs_.push_back({{"engine", contestant.id()},
                     {"runs", runs},
                     {"hit_ns", reads.hit},
                     {"absent_ns", reads.absent},
                     {"seek_100_us", seeks.microseconds()},
                     {"anonymous_mib", memory}});
    session.reset();
    contestant.close();
  }

  [[nodiscard]] std::uint64_t piled() const { return std::min(field_.entries(), kMaxPiled); }

  struct Reads {
    double hit;
    double absent;
  };

  /// Medians over the rounds, after a warm-up round.
  Reads read(Session& session, const Stock& stock) {
    const std::uint64_t lookups = std::min(stock.count, kMaxLookups / 5);
    Samples hits;
    Samples absent;
    get_hits(session, stock, lookups, 99);
    for (std::uint64_t round = 0; round < field_.rounds(); ++round) {
      hits.values.push_back(get_hits(session, stock, lookups, round).nanoseconds());
      absent.values.push_back(get_absent(session, stock, lookups, round).nanoseconds());
    }
    return {hits.median(), absent.median()};
  }

  Field& field_;
  DataSet data_{DataSet::Keys::kRandom, 100};
  std::string text_;
  nlohmann::json load_ = nlohmann::json::array();
  nlohmann::json runs_ = nlohmann::json::array();
};

}  // namespace

Curves measure_growth(Field& field) { return Growth(field).run(); }

}  // namespace tamis::bench
