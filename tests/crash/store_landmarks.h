// What the calls of a workload are part of, so that a crash can be shown to have hit what it was meant to hit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::test {

enum class Landmark : std::uint8_t {
  kCommit,            ///< A record is appended to a journal.
  kContinuedCommit,   ///< The same, to a journal that was closed before.
  kCopiedCommit,      ///< A record is copied into a mapped window of a journal.
  kJournalSwitch,     ///< A new journal gets its name.
  kRecycledName,      ///< The file of a journal that nobody needs is taken for a new one;
  kRecycledHeader,    ///< its header is written over the old one;
  kRecycledCommit,    ///< a record is written over the old ones.
  kFlushedTable,      ///< A flush makes a table.
  kCompactedTable,    ///< A compaction makes a table.
  kObsoleteTable,     ///< A table goes that a compaction has replaced.
  kManifestEdit,      ///< A record is appended to the manifest.
  kManifestRoll,      ///< Another manifest is begun,
  kObsoleteManifest,  ///< and the one before it goes.
  kCurrent,           ///< CURRENT is replaced.
  kLinkedTable,       ///< Inside a checkpoint: a table is linked,
  kCopiedTable,       ///< or copied;
  kCopiedManifest,    ///< the copy's manifest is written;
  kCopiedCurrent,     ///< its CURRENT is.
};
inline constexpr std::size_t kLandmarks = 18;

std::string_view to_string(Landmark landmark);

/// Landmarks and how often each was met.
using LandmarkCounts = std::array<int, kLandmarks>;

/// Reads the calls of one workload (CrashFileSystem's log) one after the other.
///
/// Whether a flush or a compaction made a table is known when it is done: its calls are counted then.
///
/// Threads: one at a time.
class LandmarkReader {
 public:
  /// The next call; tells whether the disk is to be crashed after it. It is when `is_due`, and after calls that are not
  /// met often: the first of every landmark, and the few calls that follow.
  bool read(std::string_view call, bool is_due);
  /// Since the last one of these two, tables were made by it.
  void flushed() { settle(Landmark::kFlushedTable); }
  void compacted() { settle(Landmark::kCompactedTable); }

  [[nodiscard]] const LandmarkCounts& met() const { return met_; }
  [[nodiscard]] const LandmarkCounts& crashed() const { return crashed_; }

 private:
  [[nodiscard]] std::vector<Landmark> landmarks_of(std::string_view call);
  void count(Landmark landmark, bool is_crashed);
  void settle(Landmark maker);

  LandmarkCounts met_ = {};
  LandmarkCounts crashed_ = {};
  std::vector<bool> table_calls_;  // Of which it is not known yet who made them: whether each was crashed.
  std::set<std::string, std::less<>> recycled_;  // Journals in files that were others'.
  bool has_manifest_ = false;
  int crashes_left_ = 0;  // After a call that is not met often.
};

}  // namespace tamis::test
