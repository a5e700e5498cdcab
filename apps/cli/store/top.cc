// tamis top: a store that a process writes, live.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "cli/full_screen.h"
#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/top_frame.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double kLongestInterval = 3600;
/// A writer publishes its counters once a second, if they change. Later than that it is idle.
constexpr milliseconds kIdle(2500);

/// The last two readings of a store. It is followed, so no lock is taken and no writer is kept out.
class Watch {
 public:
  explicit Watch(const StoreArguments& store) : store_(store) {
    store.need_folder(false);
    Result<DB> opened = DB::open(store.directory, options());
    if (!opened.ok()) throw error_of_opening(opened.status());
    db_.emplace(*std::move(opened));
    read();
    before_ = now_;
  }

  /// If the store cannot be read now, everything stays as it was, and a later call tries again.
  void update() {
    if (!db_ || !db_->catch_up().ok()) {
      db_.reset();
      Result<DB> opened = DB::open(store_.directory, options());
      if (!opened.ok()) return;
      db_.emplace(*std::move(opened));
    }
    read();
  }
  [[nodiscard]] std::string frame() const { return top_frame(store_.directory, {before_, now_}, age_); }
  [[nodiscard]] bool has_writer() const { return now_.writer.has_value(); }

 private:
  [[nodiscard]] Options options() const {
    Options options = store_.options(StoreUse::kRead);
    options.follows = true;
    return options;
  }
  void read() {
    const std::optional<WriterStats> writer = db_->writer_stats();
    Reading next;
    next.stats = writer ? writer->stats : db_->stats();
    next.published = Clock::now();
    age_ = writer ? writer->age : milliseconds();
    if (writer) {
      next.writer = writer->process_id;
      next.published -= age_;
    }
    // The same publication again: its rates still hold, unless the writer has been idle since.
    constexpr milliseconds kTolerance(50);
    const bool is_same = next.writer && next.writer == now_.writer && next.published < now_.published + kTolerance;
    if (is_same && age_ < kIdle) {
      next.published = now_.published;
      now_ = next;
      return;
    }
    before_ = now_;
    now_ = next;
    if (is_same) now_.published = Clock::now();
  }

  const StoreArguments& store_;
  std::optional<DB> db_;
  Reading before_;
  Reading now_;
  milliseconds age_ = {};
};

void show_live(Watch& watch, milliseconds interval) {
  const DelayInterrupt delay;  // Ends the program after the terminal is as it was.
  FullScreen screen;
  while (!DelayInterrupt::is_pending()) {
    const FullScreen::Size size = FullScreen::size();
    FullScreen::show(cut_to(watch.frame(), size.rows, size.columns));
    const std::optional<char> key = screen.wait_for_key(interval);
    if (key == 'q' || key == 'Q') return;
    watch.update();
  }
}

}  // namespace

int run_top(Arguments arguments) {
  StoreArguments store;
  std::optional<double> seconds;
  bool once = false;
  CommandLine line({.summary =
                        "Shows a store that a process writes, live: calls per second and how long they take, cache "
                        "hits, memory, stalls, what is to be compacted, and levels. 'q' ends it. The writer publishes "
                        "its counters once a second; it is not slowed down. Not on a terminal, it prints one frame.",
                    .usage = "DIR",
                    .example = "  tamis top cities\n  tamis top cities --once"});
  store.declare(line);
  line.option("--interval", "SECONDS", "time between frames; 1 by default", seconds, parse_positive);
  line.flag("--once", "print one frame and end", once);
  if (!line.read(arguments)) return kExitOk;
  if (seconds && *seconds > kLongestInterval) usage_error("--interval: at most 3600 seconds");
  const milliseconds interval(static_cast<std::int64_t>(1000 * seconds.value_or(1)));
  Watch watch(store);
  if (!once && output_is_terminal()) {
    show_live(watch, std::max(interval, milliseconds(100)));
    return kExitOk;
  }
  if (watch.has_writer()) {
    std::this_thread::sleep_for(interval);
    watch.update();
  }
  standard_output().write(watch.frame());
  return kExitOk;
}

}  // namespace tamis::cli
