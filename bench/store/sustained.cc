// Overwriting that goes on for long: whether its rate stays, and what it writes and takes on disk meanwhile.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "store/latencies.h"
#include "store/parts.h"
#include "store/popularity.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kTenths = 10;
constexpr std::uint64_t kMaxDraws = std::uint64_t{8} << 20;
constexpr auto kBetweenSamples = std::chrono::milliseconds(20);

/// The most that a folder takes on disk, recycled journals included, sampled by a thread.
class PeakDisk {
 public:
  explicit PeakDisk(std::string folder) : folder_(std::move(folder)), thread_([this] { sample(); }) {}
  ~PeakDisk() {
    ends_ = true;
    thread_.join();
  }
  PeakDisk(const PeakDisk&) = delete;
  PeakDisk& operator=(const PeakDisk&) = delete;

  [[nodiscard]] double bytes() const { return static_cast<double>(peak_.load()); }

 private:
  void sample() {
    while (!ends_) {
      peak_ = std::max(peak_.load(), disk_bytes(folder_));
      std::this_thread::sleep_for(kBetweenSamples);
    }
  }

  const std::string folder_;
  std::atomic<bool> ends_ = false;
  std::atomic<std::uint64_t> peak_ = 0;
  std::thread thread_;  // Last: it uses the others.
};

class Sustained {
 public:
  /// The name is part of the names of the rows.
  Sustained(Field& field, const char* name, bool is_zipfian)
      : field_(field),
        name_(name),
        stock_{data_, field.entries()},
        puts_(std::max(field.settings().sustained_puts(), kTenths)) {
    if (is_zipfian) popularity_ = std::make_unique<const Popularity>(stock_.count, std::min(puts_, kMaxDraws));
  }

  void run(Contestant& contestant, std::uint64_t round) {
    contestant.open(field_.fresh_folder(contestant), {.entries = stock_.count});
    auto session = contestant.session();
    put_batches(*session, stock_, 0, stock_.count, kBatch);
    contestant.flush();
    contestant.settle();
    const std::uint64_t written_before = bytes_written();
    {
      const PeakDisk peak(field_.folder(contestant));
      overwrite(contestant, *session, round);
      add("disk", contestant, peak.bytes() / user_bytes(stock_.count));
    }
    const auto written = static_cast<double>(bytes_written() - written_before);
    if (written > 0) add("written", contestant, written / user_bytes(kTenths * (puts_ / kTenths)));
    check_all(*session, stock_);
    field_.report().add_checksum(row("rate"), contestant.id(), round, scan_all(*session, stock_).checksum);
    session.reset();
    contestant.close();
  }

 private:
  [[nodiscard]] std::string row(std::string_view figure) const { return fmt::format("{}_{}", name_, figure); }
  void add(std::string_view figure, const Contestant& contestant, double value) {
    field_.report().add(row(figure), contestant.id(), value);
  }
  [[nodiscard]] double user_bytes(std::uint64_t entries) const {
    return static_cast<double>(entries * data_.entry_bytes());
  }

  void overwrite(Contestant& contestant, Session& session, std::uint64_t round) {
    Overwriter overwriter(session, stock_, round);
    const std::uint64_t tenth = puts_ / kTenths;
    Samples rates;
    std::uint32_t worst = 0;
    double seconds = 0;
    for (std::uint64_t part = 0; part < kTenths; ++part) {
      const Outcome done = {seconds_of([&] { worst = std::max(worst, put_tenth(overwriter, part * tenth, tenth)); }),
                            tenth, 0};
      add(fmt::format("{}", part + 1), contestant, done.kops());
      rates.values.push_back(done.kops());
      seconds += done.seconds;
    }
    const double seconds_to_settle = seconds_of([&] {
      contestant.flush();
      contestant.settle();
    });
    const auto all = static_cast<double>(kTenths * tenth);
    add("rate", contestant, all / seconds / 1e3);
    add("settled", contestant, all / (seconds + seconds_to_settle) / 1e3);
    add("flat", contestant, rates.low() / rates.high());
    add("worst", contestant, worst / 1e3);
  }

  /// Nanoseconds of the longest put.
  std::uint32_t put_tenth(Overwriter& overwriter, std::uint64_t first, std::uint64_t count) const {
    std::uint32_t worst = 0;
    auto begin = Clock::now();
    for (std::uint64_t i = first; i < first + count; ++i) {
      if (popularity_) {
        overwriter.put(popularity_->number(popularity_->rank(i)));
      } else {
        overwriter.put_one();
      }
      const auto end = Clock::now();
      worst = std::max(worst, nanoseconds(begin, end));
      begin = end;
    }
    return worst;
  }

  Field& field_;
  const char* name_;
  const DataSet data_{DataSet::Keys::kRandom, 100};
  const Stock stock_;
  const std::uint64_t puts_;
  std::unique_ptr<const Popularity> popularity_;  // Null: uniform.
};

}  // namespace

void measure_sustained(Field& field) {
  for (const bool is_zipfian : {false, true}) {
    const char* name = is_zipfian ? "zipfian" : "uniform";
    if (!field.wants_rows_of(name)) continue;
    field.part(fmt::format("overwriting, {}", name), [&] {
      Sustained sustained(field, name, is_zipfian);
      field.alternate([&](Contestant& contestant, std::uint64_t round) { sustained.run(contestant, round); });
    });
  }
}

}  // namespace tamis::bench
