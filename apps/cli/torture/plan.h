// What a round of torture does, drawn from the seed and the round's number.
#pragma once

#include <cstdint>
#include <string>

#include "cli/torture/script.h"
#include "tamis/options.h"

namespace tamis::cli {

/// One round: a process opens the store and writes; it ends in a chosen way; the store is looked at.
struct RoundPlan {
  enum class End : std::uint8_t {
    kKilledOpening,     ///< A short time after it was started.
    kKilledWriting,     ///< After a number of commits.
    kKilledFlushing,    ///< After it began a flush.
    kKilledCompacting,  ///< After it began a compaction.
    kCloses,            ///< By itself, after a number of commits.
  };

  std::uint64_t store = 0;  ///< Rounds with the same number go on with the same store.
  bool is_first_of_store = false;
  TortureScript::Shape shape;
  Options options;          ///< Of the writing process.
  Options looking_options;  ///< Of the look afterwards.

  std::uint32_t readers = 1;
  std::uint32_t sync_one_in = 16;
  bool makes_checkpoints = false;

  End end = End::kKilledWriting;
  std::uint64_t commits = 0;       ///< Before it ends.
  std::uint32_t phases = 1;        ///< The how manieth flush or compaction it is killed in.
  std::uint64_t microseconds = 0;  ///< Between that moment and the kill.
  std::uint64_t milliseconds = 0;  ///< It ends after these at the latest, wherever it is.

  bool is_opened_twice = false;  ///< While the process has the store, another tries to open it.
  std::uint32_t flips = 0;       ///< Damaged copies to look at.
  bool is_repaired = false;      ///< A copy is, as it was left and damaged.
};

RoundPlan plan_round(std::uint64_t seed, std::uint64_t round);

/// "name=value …", those that are not the default.
std::string options_text(const Options& options);

}  // namespace tamis::cli
