// Whether journals are mapped here, and whether one is now.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "io/append_file.h"
#include "io/posix_file_system.h"
#include "process/child_process.h"

namespace tamis::test {

inline bool has_windows(const ScratchFolder& scratch) {
  constexpr std::uint64_t kBytes = AppendFile::kMinWindowBytes;
  const auto file = posix_file_system().open_writable(scratch.path("probe"), OpenMode::kCreate);
  return file.ok() && (*file)->preallocate(kBytes).ok() && (*file)->open_window(0, kBytes).ok();
}

/// The start of this process's journal window; 0: there is none.
inline std::uintptr_t mapped_journal() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.ends_with(".journal")) return std::stoull(line, nullptr, 16);
  }
  return 0;
}

inline bool maps_a_journal() { return mapped_journal() != 0; }

}  // namespace tamis::test
