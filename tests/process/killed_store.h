// A process that writes a store and is killed, and what is found afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tamis::test {

/// Where the kill hits.
enum class KilledIn : std::uint8_t {
  kAnywhere,    ///< From outside, anywhere, with flushes and compactions running beside the load.
  kLoad,        ///< In a write to a journal.
  kFlush,       ///< In a call on a table, while a flush runs.
  kCompaction,  ///< In a call on a table, while a compaction runs.
};

/// What the kills found.
struct KillCounts {
  int kills = 0;
  int in_load = 0;
  int in_flush = 0;
  int in_compaction = 0;
  std::uint64_t acknowledged = 0;
  std::vector<std::string> violations;
};

/// A child writes to the store at `path` and reports each acknowledged commit; it is killed, and this process opens the
/// store. Every acknowledged commit must be there, followed by at most a few that were in flight. Called again for the
/// same path, the child continues from what was found.
void kill_and_look(const std::string& path, KilledIn where, std::uint64_t seed, KillCounts& counts);

/// As figures (support/figures.h).
void record_kills(const KillCounts& counts);

}  // namespace tamis::test
