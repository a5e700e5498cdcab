// A store made for the demonstration: sorted runs of a chosen size in a temporary folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tamis/db.h"

namespace tamis::cli {

/// A folder under TMPDIR that is gone, with all that is in it, when this is.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The keys of the demonstration: sixteen hexadecimal digits, spread evenly, no two alike.
std::string demo_key(std::uint64_t number);

/// Fills a new store with one sorted run per size, in this order, holding keys 0, 1, 2, … as values of a few dozen
/// bytes. Nothing is ever merged: `compaction` must be manual. `advance` is told of every entry written, and may throw.
void make_runs(const std::string& path, const Options& options, const std::vector<std::uint64_t>& run_keys,
               const std::function<void(std::uint64_t)>& advance);

}  // namespace tamis::cli
