// What a put costs, with the journal written and with the journal mapped (rule 7): the same store, alternating.
//
//     put_bench [--entries N] [--rounds N] [--directory DIR] [--json FILE]
//
// Each round of each contestant fills one memtable per phase: into a new journal file, into a recycled one, and into a
// recycled one whose pages were written back meanwhile. Then puts come at 70 % of the rate that was sustained, and each
// is timed. The time of the thread alone is given as well: on a shared machine it is the steadier figure.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "bench_run.h"
#include "io/posix_file_system.h"
#include "store/plain_files.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::uint64_t entries = 250'000;  // Of one phase; less than a memtable.
  std::uint64_t rounds = 5;
  std::string directory = ".";
  std::string json;
};

void need(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "put_bench: {}\n", status.to_text());
  std::exit(3);
}

double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Puts of 16 + 100 bytes with keys in random order, none twice.
class Puts {
 public:
  explicit Puts(DB& db) : db_(db) {}

  void put() {
    store_be(key_.data(), remix(++number_));
    store_be(key_.data() + 8, remix(number_ ^ 0x5bd1e995));
    store_be(value_.data(), number_);
    need(db_.put({key_.data(), key_.size()}, value_));
  }

 private:
  DB& db_;
  std::uint64_t number_ = 0;
  std::array<char, 16> key_ = {};
  std::string value_ = std::string(100, 'v');
};

class Bench {
 public:
  explicit Bench(Settings settings) : settings_(std::move(settings)) {}

  int run() {
    for (std::uint64_t round = 0; round < settings_.rounds; ++round) {
      fill("plain", &plain_);
      fill("mapped", nullptr);
    }
    for (std::uint64_t round = 0; round < settings_.rounds; ++round) {
      pace("plain", &plain_);
      pace("mapped", nullptr);
    }
    print();
    return write_json(to_json(), settings_.json);
  }

 private:
  DB open(FileSystem* files) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Options options;
    options.memory_bytes = std::uint64_t{4} << 30;
    options.memtable_bytes = std::uint64_t{64} << 20;
    Result<DB> db = DB::open(folder_ + "/store", options, {.files = files});
    need(db.status());
    return *std::move(db);
  }

  void fill(const std::string& who, FileSystem* files) {
    DB db = open(files);
    Puts puts(db);
    time(who, "new file", puts);
    need(db.flush());
    for (std::uint64_t i = 0; i < settings_.entries; ++i) puts.put();
    need(db.flush());
    time(who, "recycled file", puts);
    need(db.flush());
    write_back();
    time(who, "recycled, written back", puts);
    need(db.close());
    std::filesystem::remove_all(folder_);
  }

  /// Every page of the store's files is clean afterwards. Those that the store has just replaced may go meanwhile.
  void write_back() {
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/store")) {
      Result<std::unique_ptr<WritableFile>> file =
          posix_file_system().open_writable(entry.path().string(), OpenMode::kExisting);
      if (!file.ok() && !std::filesystem::exists(entry.path())) continue;
      need(file.status());
      need((*file)->sync());
    }
  }

  void time(const std::string& who, const std::string& what, Puts& puts) {
    const auto begin = Clock::now();
    const double cpu = thread_seconds();
    for (std::uint64_t i = 0; i < settings_.entries; ++i) puts.put();
    const auto entries = static_cast<double>(settings_.entries);
    add(what + ", ns of the thread per put", who, (thread_seconds() - cpu) / entries * 1e9);
    add(what + ", ns per put", who, std::chrono::duration<double>(Clock::now() - begin).count() / entries * 1e9);
  }

  /// Several memtables at full speed, flushes and compactions behind them; then as many at 70 % of that rate.
  void pace(const std::string& who, FileSystem* files) {
    DB db = open(files);
    Puts puts(db);
    const std::uint64_t entries = 6 * settings_.entries;
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < entries; ++i) puts.put();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    add("sustained, ns per put", who, seconds / static_cast<double>(entries) * 1e9);
    need(db.wait_idle());
    const std::chrono::duration<double> interval(seconds / static_cast<double>(entries) / 0.7);
    std::vector<double> took;
    took.reserve(entries);
    const auto start = Clock::now();
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto due = start + std::chrono::duration_cast<Clock::duration>(interval * static_cast<double>(i));
      while (Clock::now() < due) {
      }
      const auto put_begin = Clock::now();
      puts.put();
      took.push_back(std::chrono::duration<double, std::micro>(Clock::now() - put_begin).count());
    }
    std::ranges::sort(took);
    const auto at = [&](double part) {
      return took[static_cast<std::size_t>(part * static_cast<double>(took.size() - 1))];
    };
    add("at 70 %: p50, us", who, at(0.5));
    add("at 70 %: p99, us", who, at(0.99));
    add("at 70 %: p99.9, us", who, at(0.999));
    add("at 70 %: longest, us", who, took.back());
    need(db.close());
    std::filesystem::remove_all(folder_);
  }

  void add(const std::string& row, const std::string& who, double value) {
    if (!rows_.contains(row)) order_.push_back(row);
    rows_[row][who].values.push_back(value);
  }

  void print() const {
    fmt::print("puts of 16 + 100 bytes; median of {} rounds [lowest-highest]; plain / mapped\n", settings_.rounds);
    for (const std::string& row : order_) {
      const Samples& plain = rows_.at(row).at("plain");
      const Samples& mapped = rows_.at(row).at("mapped");
      fmt::print("{:45} {:9.1f} [{:.1f}-{:.1f}]  {:9.1f} [{:.1f}-{:.1f}]  {:.2f}\n", row, plain.median(), plain.low(),
                 plain.high(), mapped.median(), mapped.low(), mapped.high(), plain.median() / mapped.median());
    }
  }

  [[nodiscard]] nlohmann::json to_json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const std::string& row : order_) {
      for (const auto& [who, samples] : rows_.at(row)) {
        rows.push_back({{"row", row},
                        {"journal", who},
                        {"median", samples.median()},
                        {"low", samples.low()},
                        {"high", samples.high()}});
      }
    }
    return {{"date", today()}, {"machine", machine()}, {"rounds", settings_.rounds}, {"rows", rows}};
  }

  const Settings settings_;
  const std::string folder_ = settings_.directory + "/put_bench.tmp";
  PlainFiles plain_{posix_file_system()};
  std::vector<std::string> order_;
  std::map<std::string, std::map<std::string, Samples>> rows_;
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
    fmt::print(stderr, "usage: put_bench [--entries N] [--rounds N] [--directory DIR] [--json FILE]\n");
    return 2;
  }
  return tamis::bench::Bench(settings).run();
}
