// Which indexes and filters are worth their memory when not all of them fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis {

/// Something that can be in memory.
struct ResidentCandidate {
  std::uint64_t bytes = 0;
  double saved_reads = 0;  ///< Since the last time this was asked.
};

/// Which of them to keep in `limit_bytes`: those that save most reads per byte. Among equals, those that come first.
/// result[i] says whether candidate i stays. Pure.
std::vector<bool> choose_resident(std::span<const ResidentCandidate> candidates, std::uint64_t limit_bytes);

}  // namespace tamis
