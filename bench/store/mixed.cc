// Scans and gets while another thread writes: as fast as it can, and at a rate that is the same for all stores.
#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "store/latencies.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

/// Of scanning or getting, so that flushes and compactions are part of it; stores too small for any get less.
constexpr double kSeconds = 3;
constexpr double kEntriesThatCompact = 100'000;
constexpr std::uint64_t kMinGets = 1000;
constexpr auto kBetweenBursts = std::chrono::milliseconds(1);  // Of a writer that is ahead of its rate.

/// The rows of one writer.
struct Writing {
  const char* scan;
  const char* puts_beside_scan;
  const char* get;  ///< Also begins the names of its percentiles.
  const char* puts_beside_get;
  bool is_paced;
};

constexpr auto kWritings = std::to_array<Writing>({
    {"scan_while_paced", "put_paced_scanning", "get_while_paced", "put_paced_getting", true},
    {"scan_while_writing", "put_while_scanning", "get_while_writing", "put_while_getting", false},
});

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

/// Overwrites random entries in a thread until the end of its life.
class Writer {
 public:
  /// A rate of 0 is as fast as it can.
  Writer(Contestant& contestant, const Stock& stock, std::uint64_t seed, double puts_per_second)
      : session_(contestant.session()),
        overwriter_(*session_, stock, seed),
        rate_(puts_per_second),
        thread_([this] { write(); }) {
    while (puts_ == 0) std::this_thread::yield();
    puts_before_ = puts_;
    begin_ = Clock::now();
  }
  ~Writer() {
    ends_ = true;
    thread_.join();
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Thousands per second since it began.
  [[nodiscard]] double kops() const {
    return static_cast<double>(puts_ - puts_before_) / seconds_between(begin_, Clock::now()) / 1e3;
  }

 private:
  void write() {
    const auto begin = Clock::now();
    while (!ends_.load(std::memory_order_relaxed)) {
      const auto done = static_cast<double>(puts_.load(std::memory_order_relaxed));
      if (rate_ > 0 && done > rate_ * seconds_between(begin, Clock::now())) {
        std::this_thread::sleep_for(kBetweenBursts);
      } else {
        overwriter_.put_one();
        puts_.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  std::unique_ptr<Session> session_;
  Overwriter overwriter_;
  double rate_;
  std::atomic<bool> ends_ = false;
  std::atomic<std::uint64_t> puts_ = 0;
  std::uint64_t puts_before_ = 0;
  Clock::time_point begin_;
  std::thread thread_;  // Last: it uses the others.
};

class MixedRound {
 public:
  MixedRound(Field& field, Contestant& contestant, const Stock& stock, std::uint64_t round)
      : field_(field),
        contestant_(contestant),
        stock_(stock),
        round_(round),
        seconds_(kSeconds * std::min(1.0, static_cast<double>(stock.count) / kEntriesThatCompact)) {}

  void run(const Writing& writing) {
    const double rate = writing.is_paced ? static_cast<double>(field_.settings().put_rate) : 0;
    if (field_.wants({writing.scan, writing.puts_beside_scan})) scan(writing, rate);
    const std::string get = writing.get;
    if (field_.wants({writing.get, get + "_p999", get + "_worst", writing.puts_beside_get})) get_some(writing, rate);
  }

 private:
  /// A sum over what was read would depend on which puts came first: only the number of entries is compared, and the
  /// values of one more scan.
  void scan(const Writing& writing, double rate) {
    auto session = contestant_.session();
    {
      const Writer writer(contestant_, stock_, round_, rate);
      Outcome all;
      while (all.seconds == 0 || all.seconds < seconds_) {
        const Outcome one = scan_all(*session, stock_);
        all = {all.seconds + one.seconds, all.operations + one.operations, 0};
      }
      field_.add(writing.scan, contestant_, all.mops(), round_, stock_.count);
      field_.report().add(writing.puts_beside_scan, contestant_.id(), writer.kops());
      check_all(*session, stock_);
    }
    contestant_.settle();
  }

  void get_some(const Writing& writing, double rate) {
    auto session = contestant_.session();
    {
      TimedGets gets(*session, stock_, round_);
      const Writer writer(contestant_, stock_, round_, rate);
      std::uint64_t count = 0;
      const auto begin = Clock::now();
      for (; count < kMinGets || seconds_between(begin, Clock::now()) < seconds_; count += kMinGets) {
        gets.get_many(kMinGets);
      }
      const Outcome all = {seconds_between(begin, Clock::now()), count, 0};
      field_.report().add(writing.get, contestant_.id(), all.kops());
      field_.report().add(writing.puts_beside_get, contestant_.id(), writer.kops());
      add_percentiles(field_, contestant_, writing.get, gets.take());
    }
    contestant_.settle();
  }

  Field& field_;
  Contestant& contestant_;
  const Stock& stock_;
  std::uint64_t round_;
  double seconds_;
};

}  // namespace

void measure_mixed(Field& field) {
  if (!field.wants_groups({"mixed"})) return;
  on_compacted(field, "mixed", [&](const Stock& stock) {
    for (const Writing& writing : kWritings) {
      field.alternate([&](Contestant& contestant, std::uint64_t round) {
        MixedRound(field, contestant, stock, round).run(writing);
      });
    }
  });
}

}  // namespace tamis::bench
