// The progress of a rewrite, observed from outside.
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

/// Shows a compaction's progress during its lifetime, by the bytes of new tables in the store's folder. The store
/// reports only between steps, each of which may take minutes.
///
/// Threads: created and destroyed by one; if a bar is shown, a thread of its own polls the folder.
class WrittenTables {
 public:
  /// `expected_bytes` is a guess: about as much is written as exists now.
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
  std::map<std::string, std::uint64_t> written_;  // Including tables that a later step has replaced.
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_over_ = false;  // Guarded by mutex_.
  std::thread watcher_;
};

}  // namespace tamis::cli
