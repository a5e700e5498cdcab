#include "cli/torture/run.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "cli/draw.h"
#include "cli/error.h"
#include "cli/interrupt.h"

namespace tamis::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kHang = 120s;  // Without a message; even a slow disk syncs within this.

/// Errors of the machine end the run without a verdict.
void throw_if_of_machine(const Finding& finding) {
  if (finding.code == StatusCode::kOutOfSpace) throw CommandError(kExitInputOutput, finding.what);
}

}  // namespace

TortureRun::TortureRun(const TortureFolder& folder, std::uint64_t seed, std::chrono::seconds duration, Advance advance)
    : folder_(folder.path()), seed_(seed), end_(Clock::now() + duration), advance_(std::move(advance)) {}

std::optional<Violation> TortureRun::run() {
  for (; !is_over(); ++round_) {
    begin_round();
    const Finding finding = one_round();
    ++counts_.rounds;
    throw_if_of_machine(finding);
    if (!finding.is_right()) return Violation{round_, finding.what, options_text(plan_.options)};
  }
  return std::nullopt;
}

bool TortureRun::is_over() const { return Clock::now() >= end_ || DelayInterrupt::is_pending(); }

void TortureRun::advance() {
  const auto now = Clock::now();
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - advanced_to_);
  if (passed < 50ms) return;
  advanced_to_ += passed;
  advance_(static_cast<std::uint64_t>(passed.count()), counts_);
}

void TortureRun::begin_round() {
  plan_ = plan_round(seed_, round_);
  std::filesystem::remove_all(checkpoint_path(folder_));
  if (!plan_.is_first_of_store) return;
  std::filesystem::remove_all(store_path(folder_));
  acknowledged_.assign(plan_.shape.writers, 0);
  ++counts_.stores;
}

Finding TortureRun::one_round() {
  if (Finding finding = watch(); !finding.is_right()) return finding;
  advance();
  copy_store(store_path(folder_), left_path(folder_));
  const Expected when_left = expected_now();
  if (Finding finding = follow_to_the_end(when_left); !finding.is_right()) return finding;
  if (Finding finding = look(when_left); !finding.is_right()) return finding;
  advance();
  return look_at_copies(when_left);
}

/// Until the process has ended as planned.
Finding TortureRun::watch() {
  TortureProcess process(folder_, seed_, round_);
  Seen seen;
  if (plan_.end == RoundPlan::End::kKilledOpening) {
    seen.kill_at = Clock::now() + std::chrono::microseconds(plan_.microseconds);
  } else if (plan_.end != RoundPlan::End::kCloses) {
    seen.kill_at = Clock::now() + std::chrono::milliseconds(plan_.milliseconds);
  }
  auto heard = Clock::now();
  while (!process.has_ended()) {
    const auto now = Clock::now();
    if (!seen.was_killed && (is_over() || (seen.kill_at && now >= *seen.kill_at))) {
      process.kill();
      seen.was_killed = true;
    }
    auto patience = std::chrono::microseconds(100ms);
    if (seen.kill_at && !seen.was_killed) {
      patience = std::min(patience, std::chrono::duration_cast<std::chrono::microseconds>(*seen.kill_at - now));
    }
    const std::optional<Message> message = process.next(std::max(patience, std::chrono::microseconds(0)));
    advance();
    if (message) {
      heard = now;
      if (Finding finding = take(*message, seen); !finding.is_right()) return finding;
    } else if (now - heard > kHang) {
      return Finding::wrong("the writing process has sent nothing for two minutes");
    }
  }
  return check_end(process.wait(), seen);
}

Finding TortureRun::take(const Message& message, Seen& seen) {
  using enum Message::Kind;
  switch (message.kind) {
    case kOpened: seen.was_opened = true; break;
    case kSynced: ++counts_.synced; [[fallthrough]];
    case kAcknowledged:
      if (message.writer >= acknowledged_.size() || message.number != acknowledged_[message.writer] + 1) {
        return Finding::wrong(fmt::format("writer {} continued with commit {}", message.writer, message.number));
      }
      acknowledged_[message.writer] = message.number;
      ++counts_.commits;
      ++seen.commits;
      break;
    case kRead: counts_.reads += message.number; break;
    case kFlushes: seen.is_flushing = true; break;
    case kFlushed: seen.is_flushing = false; break;
    case kCompacts: seen.is_compacting = true; break;
    case kCompacted: seen.is_compacting = false; break;
    case kCheckpointed: ++counts_.checkpoints; break;
    case kClosed: seen.was_closed = true; break;
    case kWrong: return Finding::wrong(message.text);
    case kFailed:
      return {.kind = Finding::Kind::kTold, .what = message.text, .code = static_cast<StatusCode>(message.number)};
  }
  set_kill_time(message, seen);
  if (seen.commits == plan_.follows_at && message.is_commit() && !seen.was_killed) {
    if (Finding finding = follow(); !finding.is_right()) return finding;
  }
  const bool try_now = message.kind == kOpened && plan_.is_opened_twice && plan_.end != RoundPlan::End::kCloses;
  return try_now && !seen.was_killed ? try_second_opening() : Finding();
}

void TortureRun::set_kill_time(const Message& message, Seen& seen) const {
  using enum RoundPlan::End;
  const bool is_flush = message.kind == Message::Kind::kFlushes && plan_.end == kKilledFlushing;
  const bool is_compaction = message.kind == Message::Kind::kCompacts && plan_.end == kKilledCompacting;
  if (is_flush || is_compaction) ++seen.phases;
  const bool has_come = ((is_flush || is_compaction) && seen.phases == plan_.phases) ||
                        (plan_.end == kKilledWriting && seen.was_opened && seen.commits >= plan_.commits);
  if (!has_come || seen.moment_has_come) return;
  seen.moment_has_come = true;
  seen.kill_at = std::min(*seen.kill_at, Clock::now() + std::chrono::microseconds(plan_.microseconds));
}

/// The process holds the store until it is killed.
Finding TortureRun::try_second_opening() {
  ++counts_.second_openings;
  for (const bool read_only : {true, false}) {
    Options options = plan_.looking_options;
    options.read_only = read_only;
    const Result<DB> second = DB::open(store_path(folder_), options);
    if (second.status().code() != StatusCode::kBusy) {
      return Finding::wrong(fmt::format("a second process opened the store{}: {}", read_only ? " read-only" : "",
                                        second.status().to_text()));
    }
  }
  return {};
}

/// Everything acknowledged so far is in the journals.
Finding TortureRun::follow() {
  const TortureScript script(plan_.shape);
  const Moment at_least = acknowledged_;
  Options options = plan_.looking_options;
  options.read_only = options.follows = true;
  Result<DB> opened = DB::open(store_path(folder_), options);
  Finding finding = opened.ok() ? Finding() : Finding::told("open of a follower", opened.status());
  if (opened.ok()) {
    follower_ = *std::move(opened);
    finding = look_beside_writer(*follower_, script, at_least, counts_, followed_);
  }
  if (finding.code != StatusCode::kStale) return finding;
  follower_.reset();
  return {};
}

/// The follower that is still open moves on to what is left, and shows no less than before.
Finding TortureRun::follow_to_the_end(const Expected& expected) {
  if (!follower_) return {};
  const Moment before = followed_;
  Finding finding = look_beside_writer(*follower_, TortureScript(plan_.shape), before, counts_, followed_);
  if (finding.is_right()) finding = check_between(expected.at_least, followed_, expected.at_most);
  follower_.reset();
  return finding;
}

Finding TortureRun::check_end(int ended, const Seen& seen) {
  if (seen.was_closed && ended == kExitOk) {
    ++counts_.closes;
    plan_.end = RoundPlan::End::kCloses;
    return {};
  }
  if (ended != -SIGKILL || !seen.was_killed) {
    return Finding::wrong(fmt::format("the writing process ended by itself: {} {}", ended < 0 ? "signal" : "status",
                                      ended < 0 ? -ended : ended));
  }
  plan_.end = RoundPlan::End::kKilledWriting;
  ++counts_.kills;
  counts_.kills_opening += seen.was_opened ? 0 : 1;
  counts_.kills_flushing += seen.is_flushing ? 1 : 0;
  counts_.kills_compacting += seen.is_compacting ? 1 : 0;
  return {};
}

/// Each writer may have had one commit in progress.
Expected TortureRun::expected_now() const {
  Expected expected = {acknowledged_, acknowledged_};
  if (plan_.end != RoundPlan::End::kCloses) {
    for (std::uint64_t& commits : expected.at_most) ++commits;
  }
  return expected;
}

/// Checks the store as it was left, in this process.
Finding TortureRun::look(const Expected& expected) {
  const TortureScript script(plan_.shape);
  Finding finding = look_without_writing(store_path(folder_), plan_.looking_options, script, expected, counts_);
  if (!finding.is_right()) return finding;
  finding = look_at_checkpoint(checkpoint_path(folder_), plan_.looking_options, script, expected, counts_);
  if (!finding.is_right()) return finding;
  if (plan_.is_repaired && std::filesystem::exists(store_path(folder_) + "/CURRENT")) {
    finding = repair_sound(left_path(folder_), copy_path(folder_), plan_.looking_options, script, expected, counts_);
    if (!finding.is_right()) return finding;
  }
  return look_at_store(store_path(folder_), plan_.looking_options, script, expected, counts_, acknowledged_);
}

/// Checks damaged copies of the store as left and as it is now. The check has closed it, so any changed byte can be
/// told from an unfinished write.
Finding TortureRun::look_at_copies(const Expected& when_left) {
  const TortureScript script(plan_.shape);
  Draw draw(mixed({seed_, round_, 4}));
  const std::string store = store_path(folder_);
  const std::string left = left_path(folder_);
  const std::string copy = copy_path(folder_);
  for (std::uint32_t i = 0; i < plan_.flips && !is_over(); ++i) {
    const bool is_of_left = i % 3 == 2;
    const std::optional<Flip> flip = draw_flip(is_of_left ? left : store, draw);
    if (!flip) continue;
    const Expected expected = is_of_left ? Expected{Moment(when_left.at_most.size()), when_left.at_most}
                                         : Expected{acknowledged_, acknowledged_};
    Finding finding = look_at_flip(is_of_left ? left : store, copy, *flip, plan_.options, script, expected, counts_);
    if (!finding.is_right()) return finding;
    advance();
    if (i > 0 || !plan_.is_repaired) continue;
    finding = repair_damaged(store, copy, *flip, plan_.options, script, acknowledged_, counts_);
    if (!finding.is_right()) return finding;
  }
  return {};
}

}  // namespace tamis::cli
