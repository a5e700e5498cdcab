// What the calls of a workload belong to, to prove that crashes hit their targets.
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
  kRecycledName,      ///< The file of an unneeded journal is recycled for a new one;
  kRecycledHeader,    ///< its header is written over the old one;
  kRecycledCommit,    ///< a record is written over the old ones.
  kFlushedTable,      ///< A flush makes a table.
  kCompactedTable,    ///< A compaction makes a table.
  kObsoleteTable,     ///< A table replaced by a compaction is removed.
  kManifestEdit,      ///< A record is appended to the manifest.
  kManifestRoll,      ///< A new manifest is started,
  kObsoleteManifest,  ///< and its predecessor is removed.
  kCurrent,           ///< CURRENT is replaced.
  kLinkedTable,       ///< Inside a checkpoint: a table is linked,
  kCopiedTable,       ///< or copied;
  kCopiedManifest,    ///< the copy's manifest is written;
  kCopiedCurrent,     ///< its CURRENT is written.
  kValues,            ///< A value file is written,
  kObsoleteValues,    ///< or removed, because nothing points into it.
  kCounters,          ///< Counters are published.
};
inline constexpr std::size_t kLandmarks = 21;

std::string_view to_string(Landmark landmark);

/// Landmarks and how often each was hit.
using LandmarkCounts = std::array<int, kLandmarks>;

/// Reads the calls of one workload (CrashFileSystem's log) in order.
///
/// Whether a flush or a compaction made a table is known only when it ends: its calls are counted then.
///
/// Threads: one at a time.
class LandmarkReader {
 public:
  /// Takes the next call and tells whether to crash the disk after it: when `is_due`, and after rare calls, which are
  /// the first of every landmark and the few calls that follow.
  bool read(std::string_view call, bool is_due);
  /// A flush or compaction has ended; it made all tables since the last such event.
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
  std::vector<bool> table_calls_;                // Calls whose maker is not known yet: whether each was crashed.
  std::set<std::string, std::less<>> recycled_;  // Journals in recycled files.
  bool has_manifest_ = false;
  int crashes_left_ = 0;  // After a rare call.
};

}  // namespace tamis::test
