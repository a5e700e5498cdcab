// A store ten times as large as the memory it may use: reads by one thread and by eight. The kernel's cache holds the
// files of all stores, or is bypassed by those that can.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kTimesTheBudget = 10;
constexpr std::uint64_t kMinBudget = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxLookups = 100'000;
constexpr std::uint64_t kMaxDirectLookups = 20'000;
constexpr std::size_t kAtOnce = 32;
constexpr std::uint64_t kThreads = 8;

class LargerStore {
 public:
  LargerStore(Field& field, bool is_direct)
      : field_(field),
        is_direct_(is_direct),
        stock_{data_, field.entries()},
        lookups_(std::min(field.entries(), is_direct ? kMaxDirectLookups : kMaxLookups)) {}

  void run() {
    field_.each([&](Contestant& contestant) {
      if (takes_part(contestant)) fill(contestant);
    });
    field_.alternate([&](Contestant& contestant, std::uint64_t round) {
      if (takes_part(contestant)) read(contestant, round);
    });
    field_.each([&](Contestant& contestant) {
      if (takes_part(contestant)) contestant.close();
    });
  }

 private:
  [[nodiscard]] bool takes_part(const Contestant& contestant) const {
    return !is_direct_ || contestant.can_read_directly();
  }
  void fill(Contestant& contestant) {
    const std::uint64_t budget = stock_.count * data_.entry_bytes() / kTimesTheBudget;
    contestant.open(
        field_.fresh_folder(contestant),
        {.entries = stock_.count, .memory_bytes = std::max(budget, kMinBudget), .reads_directly = is_direct_});
    put_batches(*contestant.session(), stock_, 0, stock_.count, kBatch);
    contestant.compact();
    check_all(*contestant.session(), stock_);
  }

  void read(Contestant& contestant, std::uint64_t round) {
    auto session = contestant.session();
    const auto add = [&](const char* row, double value, const Outcome& outcome) {
      field_.add((is_direct_ ? "direct_" : "larger_") + std::string(row), contestant, value, round, outcome.checksum);
    };
    get_hits(*session, stock_, lookups_, round);  // What is hot gets into the cache.
    const Outcome hits = get_hits(*session, stock_, lookups_, round + 1);
    add("hit", hits.microseconds(), hits);
    const Outcome absent = get_absent(*session, stock_, lookups_, round);
    add("absent", absent.microseconds(), absent);
    const Outcome many = multi_get_hits(*session, stock_, lookups_, kAtOnce, round + 2);
    add("multi_get", many.microseconds(), many);
    const Outcome seeks = seek(*session, stock_, lookups_ / 4 + 1, 1, round);
    add("seek_1", seeks.microseconds(), seeks);
    session.reset();
    const Outcome by_threads = get_hits_of_threads(contestant, round);
    add("hit_8", by_threads.kops(), by_threads);
  }

  Outcome get_hits_of_threads(Contestant& contestant, std::uint64_t round) {
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::uint64_t t = 0; t < kThreads; ++t) sessions.push_back(contestant.session());
    const double seconds = seconds_of([&] {
      std::vector<std::thread> threads;
      for (std::uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] { get_hits(*sessions[t], stock_, lookups_ / 4 + 1, round * kThreads + t); });
      }
      for (std::thread& thread : threads) thread.join();
    });
    const std::uint64_t lookups = kThreads * (lookups_ / 4 + 1);
    return {seconds, lookups, lookups};
  }

  Field& field_;
  const bool is_direct_;
  DataSet data_{DataSet::Keys::kRandom, 100};
  Stock stock_;
  std::uint64_t lookups_;
};

}  // namespace

void measure_larger(Field& field) {
  if (field.wants_groups({"larger"})) field.part("larger", [&] { LargerStore(field, false).run(); });
  if (field.wants_groups({"direct"})) field.part("direct", [&] { LargerStore(field, true).run(); });
}

}  // namespace tamis::bench
