// A progress bar for those who wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "command_line.h"

namespace tamis::cli {

/// A bar on standard error, for work that takes longer than a second, and only on a terminal. It leaves no trace.
class Progress {
 public:
  /// `total` is in whatever unit `advance` counts; 0 when it is not known.
  Progress(std::string_view label, std::uint64_t total, const CommonOptions& options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t amount) {
    done_ += amount;
    if (is_shown_) show_if_due();
  }
  /// For work that knows how far it is, and finds more to do as it goes.
  void set(std::uint64_t done, std::uint64_t total) {
    total_ = total;
    done_ = 0;
    advance(done);
  }
  /// Shows a second figure beside the bar, and how fast it grows: "1,234 entries, 567/s".
  void count(std::uint64_t items, std::string_view name) {
    items_ += items;
    item_name_ = name;
  }

 private:
  void show_if_due();
  [[nodiscard]] std::string items_text(std::chrono::steady_clock::time_point now) const;

  std::string label_;
  std::uint64_t total_;
  std::uint64_t done_ = 0;
  std::uint64_t items_ = 0;
  std::string_view item_name_;
  bool is_shown_;
  bool is_visible_ = false;
  std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace tamis::cli
