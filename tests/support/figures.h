// The figures of counting tests, in a form that a script can read.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace tamis::test {

/// Appends the line "name value" to the file that the environment variable TAMIS_FIGURES names; does nothing if it is
/// unset. Each test records its own counts; the reader of the file sums the lines of a name:
///  - crash_images: distinct disks left by crashes. crash_checks: each with what was promised at that moment.
///  - call_failures: runs in which a call failed. flips: changed bytes.
///  - model_operations: compared with the model; model_interruptions: of these, during a flush or compaction.
///  - option_sets, metamorphic_operations: sets under which the same operations had the same answers, and the
///    operations under all of them.
///  - oracle_operations: also run on RocksDB and LevelDB.
///  - kills of a process, and of these kills_in_load, kills_in_flush, kills_in_compaction.
inline void record_figure(std::string_view name, std::uint64_t value) {
  const char* path = std::getenv("TAMIS_FIGURES");
  if (path == nullptr) return;
  std::ofstream file(path, std::ios::app);
  file << (std::string(name) + " " + std::to_string(value) + "\n");  // In one write: programs may run in parallel.
}

}  // namespace tamis::test
