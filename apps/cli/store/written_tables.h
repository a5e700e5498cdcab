// How far a rewrite has come, seen from outside.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "cli/command_line.h"
#include "show/progress.h"

namespace tamis::cli {

/// Shows a compaction's progress while it lives, by the bytes of tables that have appeared in the store's folder. The
/// store itself tells only between its steps, each of which may take minutes.
///
/// Threads: made and destroyed by one; a thread of its own looks, where a bar is shown at all.
class WrittenTables {
 public:
  /// `expected_bytes` is a guess: what is there now is about what will be written.
  WrittenTables(std::string directory, std::uint64_t expected_bytes, const CommonOptions& options);
  ~WrittenTables();
  WrittenTables(const WrittenTables&) = delete;
  WrittenTables& operator=(const WrittenTables&) = delete;

 private:
  void watch();
  void look();

  const std::string directory_;
  const std::uint64_t expected_bytes_;
  show::Progress progress_;
  std::set<std::string> there_before_;
  std::map<std::string, std::uint64_t> written_;  // Also those that a later step has replaced.
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;  // Guarded by mutex_.
  std::thread watcher_;
};

}  // namespace tamis::cli
