// Crashes a store after every call, in every way, and checks what is left.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "crash/store_landmarks.h"
#include "crash/store_ledger.h"
#include "crash/store_workload.h"
#include "support/crash_file_system.h"
#include "support/seed.h"

namespace tamis::test {

/// Empty, or the error in a store found on this disk: it does not open, breaks a promise of the ledger, does not
/// verify, left unneeded files, or cannot be written, closed and reopened. `found` is what it held.
std::string check_store(const MemoryDisk& disk, const StoreLedger& ledger, const StoreScript& script, Crash crash,
                        Content& found);

/// What a workload consists of without crashes.
LandmarkCounts landmarks_of(const StoreScript& script, std::uint64_t seed);

/// What an enumeration of crashes tried and found.
class StoreCrashes {
 public:
  struct Ways {
    int seeds = 1;              ///< For each random loss.
    int recovery_crashes = 40;  ///< In every n-th image, recovery itself is crashed after each of its calls.
    std::uint64_t every = 1;    ///< Only every n-th call of the workload, and the rare ones (LandmarkReader).
  };

  explicit StoreCrashes(const Ways& ways) : ways_(ways) {}

  /// Runs the script on an empty disk or, given `again`, a second time on a crashed disk of the first run.
  void enumerate(const StoreScript& script, std::uint64_t seed, bool again = false);

  [[nodiscard]] std::size_t images() const { return images_.size(); }
  [[nodiscard]] std::size_t checks() const { return checked_.size(); }
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  /// What crashes hit, over all workloads.
  [[nodiscard]] const LandmarkCounts& landmarks() const { return landmarks_; }
  /// Distinct images that no earlier kind of loss produced, by kind.
  [[nodiscard]] std::size_t images_by(Loss loss) const { return images_by_loss_[static_cast<std::size_t>(loss)]; }

 private:
  struct Moment {
    const StoreScript& script;
    const StoreLedger& ledger;
    std::string when;
  };
  void crash_in_every_way(const MemoryDisk& disk, const Moment& moment);
  void crash(const MemoryDisk& disk, Loss loss, std::uint64_t seed, const Moment& moment);
  void crash_recovery(const MemoryDisk& image, Crash crash, const Content& found, const Moment& moment);
  void run(CrashFileSystem& memory, StoreLedger& ledger, const StoreScript& script, std::uint64_t seed);

  const Ways ways_;
  std::uint64_t next_seed_ = base_seed(1);
  std::set<std::uint64_t> images_;
  std::set<std::uint64_t> checked_;  // Image and promise.
  std::vector<std::string> violations_;
  std::array<std::size_t, kAllLosses.size()> images_by_loss_ = {};
  LandmarkCounts landmarks_ = {};
};

}  // namespace tamis::test
