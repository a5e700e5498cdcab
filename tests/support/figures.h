// The figures of tests that count, in a form that a script can read.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace tamis::test {

/// Adds the line "name value" to the file that the environment variable TAMIS_FIGURES names; without it, nothing
/// happens. A test records what it counted by itself; whoever reads the file adds up the lines of a name:
///  - crash_images: distinct disks as crashes left them. crash_checks: each with what was promised at that moment.
///  - call_failures: runs in which a call failed. flips: changed bytes.
///  - model_operations: compared with the model; model_interruptions: of these, in the midst of a flush or compaction.
///  - option_sets, metamorphic_operations: sets under which the same operations had the same answers, and the
///    operations under all of them.
///  - oracle_operations: that RocksDB and LevelDB were asked, too.
///  - kills of a process, and of these kills_in_load, kills_in_flush, kills_in_compaction.
inline void record_figure(std::string_view name, std::uint64_t value) {
  const char* path = std::getenv("TAMIS_FIGURES");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  file << (std::string(name) + " " + std::to_string(value) + "\n");  // In one write: programs may run side by side.
}

}  // namespace tamis::test
