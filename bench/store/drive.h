// The timed loops. Each checks what it read and stops the program if it is wrong.
#pragma once

#include <cstdint>

#include "base/random.h"
#include "store/contestant.h"
#include "store/data_set.h"

namespace tamis::bench {

/// Entries in a store: numbers 0, 2, … 2 × (count - 1) of a data set.
struct Stock {
  const DataSet& data;
  std::uint64_t count;
};

/// The result of a loop: seconds for this many operations, and a sum over what was read.
struct Outcome {
  double seconds = 0;
  std::uint64_t operations = 0;
  std::uint64_t checksum = 0;

  [[nodiscard]] double nanoseconds() const { return seconds * 1e9 / static_cast<double>(operations); }
  [[nodiscard]] double microseconds() const { return nanoseconds() / 1e3; }
  [[nodiscard]] double kops() const { return static_cast<double>(operations) / seconds / 1e3; }
  [[nodiscard]] double mops() const { return static_cast<double>(operations) / seconds / 1e6; }
};

/// The entries from `first` on, in batches.
Outcome put_batches(Session& session, const Stock& stock, std::uint64_t first, std::uint64_t count, std::size_t batch,
                    bool sync = false);
Outcome put_singly(Session& session, const Stock& stock, std::uint64_t first, std::uint64_t count, bool sync = false);
/// Random present keys.
Outcome get_hits(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed);
/// The same without copying the values; the session can.
Outcome get_hits_pinned(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed);
/// Random absent keys.
Outcome get_absent(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed);
Outcome get_absent_pinned(Session& session, const Stock& stock, std::uint64_t lookups, std::uint64_t seed);
/// Random present keys, this many at once; operations are keys.
Outcome multi_get_hits(Session& session, const Stock& stock, std::uint64_t lookups, std::size_t at_once,
                       std::uint64_t seed);
/// Short scans from random keys.
Outcome seek(Session& session, const Stock& stock, std::uint64_t seeks, std::uint64_t entries_each, std::uint64_t seed);
/// Everything in order; operations are entries.
Outcome scan_all(Session& session, const Stock& stock);
/// Puts new versions of entries. The same seed draws the same numbers and versions.
class Overwriter {
 public:
  Overwriter(Session& session, const Stock& stock, std::uint64_t seed)
      : session_(session), stock_(stock), random_(seed) {}

  void put(std::uint64_t number) {
    session_.put(stock_.data.key(number).view(), stock_.data.value(number, random_.below(DataSet::kVersions)), false);
  }
  /// Of a random entry.
  void put_one() { put(2 * random_.below(stock_.count)); }

 private:
  Session& session_;
  const Stock& stock_;
  SplitMix64 random_;
};

/// Everything in order, each value compared with its key's; untimed.
void check_all(Session& session, const Stock& stock);

}  // namespace tamis::bench
