// A filter of the last hour, day or any span: keys are forgotten when they are older.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// Filters in a ring, each for a part of the span. Keys go to the newest; the oldest is emptied and becomes the newest
/// when its keys are out of the span.
///
///     using namespace std::chrono_literals;
///     auto seen = tamis::FilterWindow::create({.kind = "bloom", .target_rate = 0.01, .capacity = 1'000'000}, 1h);
///     const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
///         std::chrono::system_clock::now().time_since_epoch());
///     if (!seen->may_contain(id, now)) seen->add(id, now);    // Not seen in the last hour.
///
/// The caller's clock counts milliseconds from any fixed moment. A clock that goes back forgets nothing early: keys are
/// then taken for as new as the newest.
///
/// Threads: one at a time.
class TAMIS_EXPORT FilterWindow {
 public:
  /// The most filters in the ring.
  static constexpr std::uint32_t kMaxGenerations = 64;

  /// options.capacity is the number of keys in a span, and options.target_rate the rate of the whole window. With more
  /// generations, keys are forgotten more exactly, and a lookup asks more filters. kInvalidArgument for fewer than 2
  /// generations, more than kMaxGenerations or a span of less than a millisecond for each; otherwise as
  /// MutableFilter::create.
  static Result<FilterWindow> create(const FilterOptions& options, std::chrono::milliseconds span,
                                     std::uint32_t generations = 5);

  /// Empty: always answers maybe; add returns kClosed.
  FilterWindow() noexcept = default;

  /// Adds a key. It is found for at least the span from now on, and for at most a generation longer, which is
  /// span / (generations - 1). Fails as MutableFilter::add does.
  Status add(std::string_view key, std::chrono::milliseconds now);
  /// False: the key was not added in the span before now.
  [[nodiscard]] bool may_contain(std::string_view key, std::chrono::milliseconds now) const;

  /// The memory of all generations, headers included.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  struct Generation {
    std::int64_t number = 0;  // Its part of the clock.
    MutableFilter filter;
  };

  std::int64_t length_ = 1;            // Of a generation, in milliseconds.
  std::vector<Generation> ring_ = {};  // By number modulo its size, which is the number of generations.
  std::int64_t newest_ = 0;
};

}  // namespace tamis
