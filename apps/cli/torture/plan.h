// What a round of torture does, drawn from the seed and the round's number.
#pragma once

#include <cstdint>
#include <string>

#include "cli/torture/script.h"
#include "tamis/options.h"

namespace tamis::cli {

/// One round: a process opens the store and writes; it ends in a chosen way; the store is checked.
struct RoundPlan {
  enum class End : std::uint8_t {
    kKilledOpening,     ///< A short time after it was started.
    kKilledWriting,     ///< After a number of commits.
    kKilledFlushing,    ///< After it began a flush.
    kKilledCompacting,  ///< After it began a compaction.
    kCloses,            ///< By itself, after a number of commits.
  };

  std::uint64_t store = 0;  ///< Rounds with the same number use the same store.
  bool is_first_of_store = false;
  TortureScript::Shape shape;
  Options options;          ///< Of the writing process.
  Options looking_options;  ///< Of the check afterwards.

  std::uint32_t readers = 1;
  std::uint32_t sync_one_in = 16;
  bool makes_checkpoints = false;

  End end = End::kKilledWriting;
  std::uint64_t commits = 0;       ///< Before it ends.
  std::uint32_t phases = 1;        ///< It is killed in this flush or compaction, counted from 1.
  std::uint64_t microseconds = 0;  ///< Between that moment and the kill.
  std::uint64_t milliseconds = 0;  ///< It ends after this time at the latest.

  std::uint64_t follows_at = 0;  ///< Commits after which another process follows the store; 0: none does.
  bool is_opened_twice = false;  ///< Another process tries to open the store meanwhile.
  std::uint32_t flips = 0;       ///< Damaged copies to check.
  bool is_repaired = false;      ///< Also repair copies: one as left, one damaged.
};

RoundPlan plan_round(std::uint64_t seed, std::uint64_t round);

/// "name=value …", for options that differ from the default.
std::string options_text(const Options& options);

}  // namespace tamis::cli
