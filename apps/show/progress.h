// A progress bar.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tamis::show {

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
    done_ += amount;
    if (is_shown_) show_if_due();
  }
  /// For work that knows its progress and may find more to do.
  void set(std::uint64_t done, std::uint64_t total) {
    total_ = total;
    done_ = 0;
    advance(done);
  }
  /// The current activity.
  void name(std::string label) {
    label_ = std::move(label);
    advance(0);
  }
  /// Erases the line until the next update.
  void hide();
  /// Marks the time left as approximate.
  void call_total_a_guess() { total_is_a_guess_ = true; }
  /// Shows a second figure beside the bar, and its rate: "1,234 entries, 567/s".
  void count(std::uint64_t items, std::string_view name) {
    items_ += items;
    item_name_ = name;
  }

 private:
  void show_if_due();

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t items_ = 0;
  std::string_view item_name_;
  Unit unit_;
  bool total_is_a_guess_ = false;
  bool is_shown_;
  bool is_visible_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace tamis::show
