// Fails one call of a workload over a whole store, or all calls from one on, and checks how the store reacts.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "crash/store_workload.h"
#include "support/faulty_file_system.h"

namespace tamis::test {

/// The faults that a file system may report; none of them lies.
std::span<const FaultKind> honest_faults();

/// What was tried and found with failing calls.
struct StoreFaultCounts {
  int runs = 0;
  int fired = 0;    ///< Of these, with at least one failed call.
  int stopped = 0;  ///< Writes had stopped when the fault was over,
  int went_on = 0;  ///< and resumed by themselves,
  int resumed = 0;  ///< or by resume().
  int failed_openings = 0;
  std::set<std::uint64_t> images;  ///< Distinct disks that were checked.
  std::vector<std::string> violations;
};

/// How thoroughly one run is checked.
struct StoreFaultWatch {
  /// For this many calls from the fault on, the disk is also crashed, in every way.
  std::uint64_t crashed_calls = 0;
};

/// Fails this call; false if the workload ended before it. The demands, by promise:
///  - A failed commit is whole or absent, the others are as acknowledged (P1, P2), also after a crash of the machine.
///  - The running store can still be read, and shows what was acknowledged.
///  - Without space or descriptors, writes fail with a status and resume by themselves when there is space (P6).
///  - After an I/O error stopped writes, they resume only on request; no file is synced after a failed sync (P5).
bool fail_store_call(const Fault& fault, const StoreScript& script, std::uint64_t seed, const StoreFaultWatch& watch,
                     StoreFaultCounts& counts);

/// Files that were synced although an earlier sync of them had failed, from a log of CrashFileSystem.
std::string synced_again(const std::vector<std::string>& calls);

}  // namespace tamis::test
