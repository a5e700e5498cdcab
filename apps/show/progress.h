// A progress bar, and its text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tamis::show {

struct ProgressState {
  std::string label = {};
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0 if unknown; less than `done` if the guess was wrong.
  bool total_is_a_guess = false;
  bool counts_bytes = false;        ///< Whether both are bytes, which are shown.
  std::uint64_t items = 0;          ///< A second figure beside the bar, shown if named.
  std::string_view item_name = {};  ///< "entries".
  double seconds = 0;               ///< Since the work began.
};

/// How many terminal columns a progress line may take: the cursor and a ^C after it must not wrap. 0 columns: unknown,
/// taken as 80.
std::size_t columns_beside_typing(std::size_t columns);

/// "loading [#########.....]  64 %  1,234 entries, 567/s, 0:12 left", in at most this many columns: the bar shrinks
/// first, then the end is cut. Without a total there is no bar and no time left.
std::string progress_line(const ProgressState& state, std::size_t columns);

/// A bar on standard error, only on a terminal, for work that takes more than a second. It is erased at the end.
///
/// Threads: one at a time.
class Progress {
 public:
  enum class Unit : unsigned char { kSteps, kBytes };

  /// `total` is in the unit of `advance`; 0 if unknown. Bytes are shown, steps are not.
  Progress(std::string_view label, std::uint64_t total, bool is_wanted, Unit unit = Unit::kSteps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  [[nodiscard]] bool is_shown() const { return is_shown_; }

  void advance(std::uint64_t amount) {
    state_.done += amount;
    if (is_shown_) show_if_due();
  }
  /// For work that knows its progress and may find more to do.
  void set(std::uint64_t done, std::uint64_t total) {
    state_.total = total;
    state_.done = 0;
    advance(done);
  }
  /// The current activity.
  void name(std::string label) {
    state_.label = std::move(label);
    advance(0);
  }
  /// Erases the line until the next update.
  void hide();
  /// Marks the time left as approximate.
  void call_total_a_guess() { state_.total_is_a_guess = true; }
  /// Shows a second figure beside the bar, and its rate: "1,234 entries, 567/s".
  void count(std::uint64_t items, std::string_view name) {
    state_.items += items;
    state_.item_name = name;
  }

 private:
  void show_if_due();

  ProgressState state_;
  bool is_shown_;
  bool is_visible_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace tamis::show
