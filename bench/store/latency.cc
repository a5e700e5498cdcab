// Percentiles: gets alone, puts at full rate, then both at once with the puts at 70 % of their sustained rate, while
// flushes and compactions run.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr double kPace = 0.7;
constexpr std::uint64_t kMaxGets = 200'000;
/// The sustained rate shows only after several flushes and compactions. Stores too small for any get less time.
constexpr double kSustainedSeconds = 3;
constexpr double kEntriesThatCompact = 100'000;
constexpr auto kBetweenGets = std::chrono::microseconds(50);  // Leaves the core to flushes and compactions.

using Clock = std::chrono::steady_clock;
using Latencies = std::vector<std::uint32_t>;  // Nanoseconds.

std::uint32_t since(Clock::time_point begin) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(nanoseconds, 0, UINT32_MAX));
}

double percentile(const Latencies& sorted, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(at, sorted.size() - 1)]) / 1e3;
}

void get_one(Session& session, const Stock& stock, std::uint64_t number, std::string& buffer, Latencies& latencies) {
  const KeyText key = stock.data.key(number);
  const auto begin = Clock::now();
  const bool is_there = session.get(key.view(), buffer);
  latencies.push_back(since(begin));
  if (!is_there || !stock.data.belongs(number, buffer)) stop("latency: a value is not its key's");
}

Latencies get_many(Session& session, const Stock& stock, std::uint64_t count, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::string buffer;
  Latencies latencies;
  latencies.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    get_one(session, stock, 2 * random.below(stock.count), buffer, latencies);
  }
  return latencies;
}

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
  SplitMix64 random(seed);
  return at_pace(count, gap, [&] {
    const std::uint64_t number = 2 * random.below(stock.count);
    session.put(stock.data.key(number).view(), stock.data.value(number, random.below(DataSet::kVersions)), false);
  });
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
    add("get", get_many(*session_, stock_, std::min(stock_.count, kMaxGets), round_));
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
    Latencies gets;
    gets.reserve(puts);
    std::thread reader([&] {
      auto session = contestant_.session();
      SplitMix64 random(round_);
      std::string buffer;
      do {
        get_one(*session, stock_, 2 * random.below(stock_.count), buffer, gets);
        std::this_thread::sleep_for(kBetweenGets);
      } while (!ends.load(std::memory_order_relaxed));
    });
    Latencies paced = put_many(*session_, stock_, puts, gap, round_ + 1000);
    ends = true;
    reader.join();
    add("paced_put", std::move(paced));
    add("busy_get", std::move(gets));
    const auto second_of_puts = static_cast<std::uint64_t>(1 / gap.count()) + 1;
    Latencies nothing = put_nothing(std::min(puts, second_of_puts), gap);
    std::ranges::sort(nothing);
    field_.report().add("paced_nothing_p999", contestant_.id(), percentile(nothing, 0.999));
  }

  void add(const std::string& what, Latencies latencies) {
    std::ranges::sort(latencies);
    Report& report = field_.report();
    report.add(what + "_p50", contestant_.id(), percentile(latencies, 0.5));
    report.add(what + "_p99", contestant_.id(), percentile(latencies, 0.99));
    report.add(what + "_p999", contestant_.id(), percentile(latencies, 0.999));
    report.add(what + "_worst", contestant_.id(), percentile(latencies, 1));
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
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, field.entries() / 5 + 1};
  field.part("latency", [&] {
    field.each([&](Contestant& contestant) { make_compacted(field, contestant, stock); });
    field.alternate([&](Contestant& contestant, std::uint64_t round) {
      LatencyRound(field, contestant, stock, round).run();
      contestant.settle();
    });
    field.each([&](Contestant& contestant) {
      check_all(*contestant.session(), stock);
      contestant.close();
    });
  });
}

}  // namespace tamis::bench
