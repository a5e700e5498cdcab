// Percentiles: gets alone, puts at full rate, then both at once with the puts at 70 % of their sustained rate, while
// flushes and compactions run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "store/latencies.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr double kPace = 0.7;
constexpr std::uint64_t kMaxGets = 200'000;
/// The sustained rate shows only after several flushes and compactions. Stores too small for any get less time.
constexpr double kSustainedSeconds = 3;
constexpr double kEntriesThatCompact = 100'000;
constexpr auto kBetweenGets = std::chrono::microseconds(50);  // Leaves the core to flushes and compactions.

/// Repeats an operation; with a gap, the i-th is due at i gaps from the start and its latency counts from then, so that
/// operations delayed by a slow one count, too.
template <typename Act>
Latencies at_pace(std::uint64_t count, std::chrono::duration<double> gap, const Act& act) {
  Latencies latencies;
  latencies.reserve(count);
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < count; ++i) {
    auto due = start + std::chrono::duration_cast<Clock::duration>(gap * i);
    while (gap.count() > 0 && Clock::now() < due) std::this_thread::yield();
    if (gap.count() == 0) due = Clock::now();
    act();
    latencies.push_back(since(due));
  }
  return latencies;
}

Latencies put_many(Session& session, const Stock& stock, std::uint64_t count, std::chrono::duration<double> gap,
                   std::uint64_t seed) {
  Overwriter overwriter(session, stock, seed);
  return at_pace(count, gap, [&] { overwriter.put_one(); });
}

void be_busy(std::chrono::microseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;) {
  }
}

/// The machine's share: the same pace without a store, with other threads about as busy as a reader and a store's
/// flushes.
Latencies put_nothing(std::uint64_t count, std::chrono::duration<double> gap) {
  std::atomic<bool> ends = false;
  const auto repeat = [&](std::chrono::microseconds busy, std::chrono::microseconds idle) {
    while (!ends.load(std::memory_order_relaxed)) {
      be_busy(busy);
      std::this_thread::sleep_for(idle);
    }
  };
  std::thread reader([&] { repeat(std::chrono::microseconds(6), kBetweenGets); });
  std::thread flush([&] { repeat(std::chrono::milliseconds(120), std::chrono::milliseconds(150)); });
  Latencies latencies = at_pace(count, gap, [] {});
  ends = true;
  reader.join();
  flush.join();
  return latencies;
}

class LatencyRound {
 public:
  LatencyRound(Field& field, Contestant& contestant, const Stock& stock, std::uint64_t round)
      : field_(field), contestant_(contestant), stock_(stock), round_(round), session_(contestant.session()) {}

  void run() {
    const std::uint64_t puts = contestant_.single_puts(stock_.count + 1);
    TimedGets gets(*session_, stock_, round_);
    gets.get_many(std::min(stock_.count, kMaxGets));
    add("get", gets.take());
    Latencies full_rate;
    std::uint64_t done = 0;
    const double size = std::min(1.0, static_cast<double>(stock_.count) / kEntriesThatCompact);
    const auto begin = Clock::now();
    const double seconds = seconds_of([&] {
      while (done == 0 || Clock::now() - begin < std::chrono::duration<double>(size * kSustainedSeconds)) {
        full_rate = put_many(*session_, stock_, puts, {}, round_ + done);
        done += puts;
      }
      contestant_.settle();  // Deferred work is not part of a sustained rate.
    });
    add("put", std::move(full_rate));
    beside_each_other(puts, std::chrono::duration<double>(seconds / static_cast<double>(done) / kPace));
  }

 private:
  void beside_each_other(std::uint64_t puts, std::chrono::duration<double> gap) {
    std::atomic<bool> ends = false;
    auto session = contestant_.session();
    TimedGets gets(*session, stock_, round_);
    std::thread reader([&] {
      do {
        gets.get_one();
        std::this_thread::sleep_for(kBetweenGets);
      } while (!ends.load(std::memory_order_relaxed));
    });
    Latencies paced = put_many(*session_, stock_, puts, gap, round_ + 1000);
    ends = true;
    reader.join();
    add("paced_put", std::move(paced));
    add("busy_get", gets.take());
    const auto second_of_puts = static_cast<std::uint64_t>(1 / gap.count()) + 1;
    Latencies nothing = put_nothing(std::min(puts, second_of_puts), gap);
    std::ranges::sort(nothing);
    field_.report().add("paced_nothing_p999", contestant_.id(), percentile(nothing, 0.999));
  }

  void add(const std::string& what, Latencies latencies) {
    add_percentiles(field_, contestant_, what, std::move(latencies));
  }

  Field& field_;
  Contestant& contestant_;
  const Stock& stock_;
  std::uint64_t round_;
  std::unique_ptr<Session> session_;
};

}  // namespace

void measure_latencies(Field& field) {
  if (!field.wants_groups({"latency"})) return;
  on_compacted(field, "latency", [&](const Stock& stock) {
    field.alternate([&](Contestant& contestant, std::uint64_t round) {
      LatencyRound(field, contestant, stock, round).run();
      contestant.settle();
    });
  });
}

}  // namespace tamis::bench
