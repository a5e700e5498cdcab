// What more threads are worth on disks that this machine does not have.
//
//     disk_bench [--puts N] [--rounds N]
//
// The store is in memory; every read and write of a table sleeps as long as a disk of the stated latency and bandwidth
// would take, so a machine with few cores can show what many compactions at once do to slow disks. With several disks,
// a file is on one of them. Fills a store with random keys as fast as it takes them and then settles; then puts at 70 %
// of that rate into the same store.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "base/sync.h"
#include "bench_run.h"
#include "io/memory_file_system.h"
#include "support/passing_file_system.h"
#include "tamis/db.h"

namespace tamis::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct DiskModel {
  std::string_view name;
  std::size_t disks = 1;
  std::chrono::microseconds latency = {};  ///< Of each call; calls of several threads overlap in it.
  double bytes_per_us = 0;                 ///< Of one disk; its calls share it.
};

constexpr std::array kModels = {
    DiskModel{"one disk, 5 ms, 100 MB/s", 1, std::chrono::milliseconds(5), 100},
    DiskModel{"one disk, 0.1 ms, 20 MB/s", 1, std::chrono::microseconds(100), 20},
    DiskModel{"four disks, 0.1 ms, 20 MB/s", 4, std::chrono::microseconds(100), 20},
};

/// Calls wait for their turn at the disk, then for the latency.
///
/// Threads: any.
class Disk {
 public:
  explicit Disk(const DiskModel& model) : model_(model) {}

  void use(std::uint64_t bytes) EXCLUDES(mutex_) {
    const auto time =
        std::chrono::nanoseconds(static_cast<std::int64_t>(1e3 * static_cast<double>(bytes) / model_.bytes_per_us));
    Clock::time_point end;
    {
      MutexLock lock(mutex_);
      free_at_ = std::max(free_at_, Clock::now()) + time;
      end = free_at_;
    }
    std::this_thread::sleep_until(end + model_.latency);
  }

 private:
  const DiskModel& model_;
  Mutex mutex_;
  Clock::time_point free_at_ GUARDED_BY(mutex_);
};

/// Tables are on modelled disks. Journals and the manifest are not: they would be on a disk of their own.
///
/// Threads: any.
class ModelledFileSystem final : public test::PassingFileSystem {
 public:
  ModelledFileSystem(FileSystem& beneath, const DiskModel& model) : PassingFileSystem(beneath) {
    for (std::size_t i = 0; i < model.disks; ++i) disks_.push_back(std::make_unique<Disk>(model));
  }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    Result<std::unique_ptr<ReadableFile>> file = PassingFileSystem::open_readable(path);
    if (!file.ok() || !path.ends_with(".tms")) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<Read>(disk_of(path), *std::move(file)));
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    Result<std::unique_ptr<WritableFile>> file = PassingFileSystem::open_writable(path, mode);
    if (!file.ok() || !path.ends_with(".tms")) return file;
    return std::unique_ptr<WritableFile>(std::make_unique<Written>(disk_of(path), *std::move(file)));
  }

 private:
  class Read final : public ReadableFile {
   public:
    Read(Disk& disk, std::unique_ptr<ReadableFile> file) : disk_(disk), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      disk_.use(to.size());
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }

   private:
    Disk& disk_;
    std::unique_ptr<ReadableFile> file_;
  };
  class Written final : public WritableFile {
   public:
    Written(Disk& disk, std::unique_ptr<WritableFile> file) : disk_(disk), file_(std::move(file)) {}
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      std::uint64_t bytes = 0;
      for (const Bytes& piece : pieces) bytes += piece.size();
      disk_.use(bytes);
      return file_->write_at(offset, pieces);
    }
    Status sync() override { return disk_.use(0), file_->sync(); }
    Status truncate(std::uint64_t size) override { return file_->truncate(size); }
    Status preallocate(std::uint64_t size) override { return file_->preallocate(size); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
    Status close() override { return file_->close(); }

   private:
    Disk& disk_;
    std::unique_ptr<WritableFile> file_;
  };

  Disk& disk_of(const std::string& path) { return *disks_[std::hash<std::string>()(path) % disks_.size()]; }

  std::vector<std::unique_ptr<Disk>> disks_;
};

void need(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "disk_bench: {}\n", status.to_text());
  std::exit(2);
}

/// Of one kind of disks and number of threads.
struct Figures {
  Samples filled;     ///< Puts per second until the last one returned.
  Samples settled;    ///< Until nothing was left to compact.
  Samples most_runs;  ///< In level 0.
  Samples worst_ms;   ///< Put at 70 % of the settled rate.
};

/// Puts random keys; with a rate, each when it is due. Returns the longest put.
Clock::duration put_all(DB& db, std::uint64_t puts, double per_second, SplitMix64& random, std::uint64_t& most_runs) {
  const std::string value(100, 'v');
  const Clock::time_point begin = Clock::now();
  Clock::duration longest = {};
  std::string key(16, '\0');
  for (std::uint64_t i = 0; i < puts; ++i) {
    if (per_second > 0) {
      const auto due = begin + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(static_cast<double>(i) / per_second));
      if (Clock::now() + std::chrono::milliseconds(1) < due) std::this_thread::sleep_until(due);
    }
    store_be(key.data(), random.next());
    const Clock::time_point before = Clock::now();
    need(db.put(key, value));
    longest = std::max(longest, Clock::now() - before);
    if (i % 1024 != 0) continue;
    const Stats stats = db.stats();
    if (!stats.levels.empty()) most_runs = std::max<std::uint64_t>(most_runs, stats.levels.front().runs);
  }
  return longest;
}

void measure(const DiskModel& model, std::uint32_t compacting, std::uint64_t puts, Figures& figures) {
  MemoryFileSystem memory;
  ModelledFileSystem files(memory, model);
  Options options{.memory_bytes = 16 << 20, .memtable_bytes = 1 << 20, .table_bytes = 1 << 20};
  options.background_threads = 1 + compacting;
  Result<DB> db = DB::open("/store", options, {.files = &files, .random_seed = 1});
  need(db.status());
  SplitMix64 random(1);
  std::uint64_t most_runs = 0;
  const Clock::time_point begin = Clock::now();
  const auto rate = [&] {
    return static_cast<double>(puts) / std::chrono::duration<double>(Clock::now() - begin).count();
  };
  put_all(*db, puts, 0, random, most_runs);
  figures.filled.values.push_back(rate());
  need(db->wait_idle());
  const double settled = rate();
  figures.settled.values.push_back(settled);
  figures.most_runs.values.push_back(static_cast<double>(most_runs));
  const Clock::duration longest = put_all(*db, puts / 2, 0.7 * settled, random, most_runs);
  figures.worst_ms.values.push_back(std::chrono::duration<double, std::milli>(longest).count());
}

std::string text_of(const Samples& samples, int digits) {
  if (samples.values.size() == 1) return fmt::format("{:.{}f}", samples.median(), digits);
  return fmt::format("{:.{}f} [{:.{}f}–{:.{}f}]", samples.median(), digits, samples.low(), digits, samples.high(),
                     digits);
}

}  // namespace
}  // namespace tamis::bench

int main(int argc, char** argv) {
  using namespace tamis::bench;
  std::uint64_t puts = 200'000;
  std::uint64_t rounds = 1;
  if (!read_options(argc, argv, {{"--puts", into(puts)}, {"--rounds", into(rounds)}})) return 2;
  fmt::print(
      "| disks | compacting threads | puts/s | until settled | most runs in level 0 | worst put at 70 %, ms |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|\n");
  for (const DiskModel& model : kModels) {
    for (const std::uint32_t compacting : {1U, 2U, 4U, 8U}) {
      Figures figures;
      for (std::uint64_t round = 0; round < rounds; ++round) measure(model, compacting, puts, figures);
      fmt::print("| {} | {} | {} | {} | {} | {} |\n", model.name, compacting, text_of(figures.filled, 0),
                 text_of(figures.settled, 0), text_of(figures.most_runs, 0), text_of(figures.worst_ms, 1));
      (void)std::fflush(stdout);
    }
  }
  return 0;
}
