// A store for the demo: sorted runs of chosen sizes in a temporary folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tamis/db.h"

namespace tamis::cli {

/// A folder under TMPDIR, removed with its contents by the destructor.
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

/// The demo's keys: sixteen hexadecimal digits, evenly spread, all distinct.
std::string demo_key(std::uint64_t number);

/// Fills a new store with one sorted run per size, in this order, with keys 0, 1, 2, … and values of a few dozen bytes.
/// Nothing is merged: `compaction` must be manual. `advance` is called for every entry written, and may throw.
void make_runs(const std::string& path, const Options& options, const std::vector<std::uint64_t>& run_keys,
               const std::function<void(std::uint64_t)>& advance);

}  // namespace tamis::cli
