// A writer of journals that behaves like the store, and a ledger of what it was promised.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "journal/journal_writer.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/seed.h"

namespace tamis::test {

struct WrittenRecord {
  std::uint32_t count = 0;
  std::string payload;

  bool operator==(const WrittenRecord&) const = default;
};

/// What was asked of the journals and what they answered, to check a disk after a crash.
///
/// Threads: one at a time.
class JournalLedger {
 public:
  void tries(std::uint64_t sequence, const WrittenRecord& record) { tried_[sequence].push_back(record); }
  void appended(std::uint64_t sequence, const WrittenRecord& record) { acknowledged_[sequence] = record; }
  void synced(std::uint64_t next_sequence) { synced_ = next_sequence; }
  /// A clean close has begun, or records may follow again.
  void closes() { may_be_closed_ = true; }
  void reopened() { may_be_closed_ = false; }
  /// Everything before this sequence is durable in tables; journals with smaller numbers are free.
  void flushed(std::uint64_t next_sequence, std::uint64_t oldest_journal);

  /// Empty, or the error on this disk: a synced record is missing, records are not a prefix of what was written, one
  /// was never written, an open journal counts as closed, or a crash is taken for damage.
  [[nodiscard]] std::string check(const MemoryDisk& disk) const;
  /// Changes whenever the demands of check() do.
  [[nodiscard]] std::uint64_t state_hash() const { return remix(synced_ + remix(flushed_)) + acknowledged_.size(); }

  [[nodiscard]] std::uint64_t records() const { return acknowledged_.size(); }

 private:
  [[nodiscard]] std::string check_stream(FileSystem& files, const std::vector<std::string>& paths) const;

  std::map<std::uint64_t, std::vector<WrittenRecord>> tried_;  // By first sequence.
  std::map<std::uint64_t, WrittenRecord> acknowledged_;
  std::uint64_t synced_ = 1;
  std::uint64_t flushed_ = 1;
  std::uint64_t oldest_journal_ = 1;
  bool may_be_closed_ = false;
};

/// How a workload deviates from the store: each is a mistake that the tests must catch.
enum class Mistake : std::uint8_t { kNone, kPredecessorNotSynced, kSaltReused };

/// Appends of various sizes, some synced; journals switched, flushed, recycled; closed, reopened, closed. When calls
/// fail it continues like the store: it retries a failed append with another record, and flushes and starts a new
/// journal after a failed sync.
///
/// Threads: one at a time.
class JournalWorkload {
 public:
  struct Shape {
    int journals = 6;
    int records = 10;  // Per journal.
    std::uint64_t one_sync_in = 4;
    std::uint64_t window_bytes = 0;  // The size of the windows that records may be copied into.
    Mistake mistake = Mistake::kNone;
  };

  JournalWorkload(FileSystem& files, JournalLedger& ledger, std::uint64_t seed, const Shape& shape)
      : files_(files), ledger_(ledger), random_(seed), shape_(shape) {}

  /// Stops early if it cannot continue after failures.
  void run();

 private:
  bool append();
  bool sync();
  bool switch_journal();
  bool start_afresh();
  void flush(std::uint64_t oldest_journal);
  bool close_and_reopen();
  Result<std::unique_ptr<JournalWriter>> create(std::uint64_t first_sequence);

  FileSystem& files_;
  JournalLedger& ledger_;
  SplitMix64 random_;
  const Shape shape_;
  std::unique_ptr<JournalWriter> writer_;
  std::uint64_t next_number_ = 1;
  std::set<std::uint64_t> live_;  // Numbers of journals that may hold unflushed records.
  std::vector<std::string> free_;
};

/// Takes disk images after each call and checks each (image, promise) once.
class CrashEnumerator {
 public:
  explicit CrashEnumerator(const JournalLedger& ledger) : ledger_(ledger) {}

  /// Every loss; the random ones `seeds` times.
  void crash_in_every_way(const MemoryDisk& disk, int seeds, std::string_view when);
  void crash(const MemoryDisk& disk, Loss loss, std::uint64_t seed, std::string_view when);

  [[nodiscard]] std::size_t images() const { return images_.size(); }
  [[nodiscard]] const std::set<std::uint64_t>& image_hashes() const { return images_; }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

 private:
  const JournalLedger& ledger_;
  std::uint64_t next_seed_ = base_seed(1);
  std::set<std::uint64_t> images_;
  std::set<std::uint64_t> checked_;
  std::vector<std::string> violations_;
};

/// Runs a workload over a disk that crashes after every call; `fault` may make the disk lie.
CrashEnumerator enumerate_crashes(JournalLedger& ledger, std::uint64_t seed, int ways,
                                  const JournalWorkload::Shape& shape, std::optional<Fault> fault = std::nullopt);

/// What was tried and found with failing calls.
struct FaultCounts {
  int runs = 0;
  int fired = 0;  // Of these, with at least one failed call.
  std::set<std::uint64_t> images;
  std::vector<std::string> violations;
};

/// Fails call N of a workload for every N, with every kind of fault, once and from then on; crashes after the calls
/// that follow the fault, and at the end. With a stride, only every stride-th call.
void fail_every_call_in_every_way(std::uint64_t seed, const JournalWorkload::Shape& shape, FaultCounts& counts,
                                  std::uint64_t stride = 1);

}  // namespace tamis::test
