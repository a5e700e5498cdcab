// The rounds of torture.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/torture/folder.h"
#include "cli/torture/look.h"
#include "cli/torture/plan.h"
#include "cli/torture/process.h"
#include "tamis/db.h"

namespace tamis::cli {

/// A broken guarantee.
struct Violation {
  std::uint64_t round = 0;
  std::string what;
  std::string options;  ///< Of the writing process.
};

/// Runs rounds until the time is up, Ctrl-C arrives, or a violation is found.
///
/// Threads: one at a time.
class TortureRun {
 public:
  /// Called now and then with the milliseconds since the last call and all counts so far.
  using Advance = std::function<void(std::uint64_t milliseconds, const TortureCounts& counts)>;

  TortureRun(const TortureFolder& folder, std::uint64_t seed, std::chrono::seconds duration, Advance advance);

  std::optional<Violation> run();
  [[nodiscard]] const TortureCounts& counts() const { return counts_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// What was observed of the process.
  struct Seen {
    std::optional<Clock::time_point> kill_at;
    bool moment_has_come = false;  ///< The planned moment.
    bool was_killed = false;
    bool was_opened = false;
    bool was_closed = false;
    bool is_flushing = false;
    bool is_compacting = false;
    std::uint64_t commits = 0;
    std::uint32_t phases = 0;
  };

  void begin_round();
  Finding one_round();
  Finding watch();
  Finding take(const Message& message, Seen& seen);
  void set_kill_time(const Message& message, Seen& seen) const;
  Finding try_second_opening();
  Finding follow();
  Finding follow_to_the_end(const Expected& expected);
  Finding check_end(int ended, const Seen& seen);
  [[nodiscard]] Expected expected_now() const;
  Finding look(const Expected& expected);
  Finding look_at_copies(const Expected& when_left);
  [[nodiscard]] bool is_over() const;
  void advance();

  const std::string folder_;
  const std::uint64_t seed_;
  const Clock::time_point end_;
  const Advance advance_;
  Clock::time_point advanced_to_ = Clock::now();

  TortureCounts counts_;
  std::uint64_t round_ = 0;
  RoundPlan plan_;
  Moment acknowledged_;  // Of the current store.
  std::optional<DB> follower_;
  Moment followed_;  // What the follower has shown.
};

}  // namespace tamis::cli
