#include "tamis/filter_window.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/try.h"
#include "filter/open_filter.h"

namespace tamis {
namespace {

/// No generation: older than every one of the clock.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

std::int64_t floor_divided(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

std::size_t place_in(std::int64_t number, std::size_t size) {
  const auto count = static_cast<std::int64_t>(size);
  return static_cast<std::size_t>((number % count + count) % count);
}

}  // namespace

Result<FilterWindow> FilterWindow::create(const FilterOptions& options, std::chrono::milliseconds span,
                                          std::uint32_t generations) {
  if (generations < 2 || generations > kMaxGenerations) {
    return Status::invalid_argument(
        fmt::format("a window has 2 to {} generations, not {}", kMaxGenerations, generations));
  }
  const std::int64_t parts = generations - 1;
  if (span.count() < parts) {
    return Status::invalid_argument(
        fmt::format("a span of {} ms has no {} parts of a millisecond", span.count(), parts));
  }
  FilterOptions of_one = options;
  // Whoever is not in the window is asked about in each generation.
  const bool has_size = options.target_rate || options.bits_per_key || options.memory_bytes;
  if (options.target_rate || !has_size) of_one.target_rate = options.target_rate.value_or(0.01) / generations;
  if (options.memory_bytes) of_one.memory_bytes = *options.memory_bytes / generations;
  of_one.capacity = (options.capacity + generations - 2) / (generations - 1);
  FilterWindow window;
  window.length_ = (span.count() + parts - 1) / parts;
  window.newest_ = kNever;
  for (std::uint32_t i = 0; i < generations; ++i) {
    TAMIS_TRY(MutableFilter filter, MutableFilter::create(of_one));
    window.ring_.push_back({.number = kNever, .filter = std::move(filter)});
  }
  return window;
}

Status FilterWindow::add(std::string_view key, std::chrono::milliseconds now) {
  if (ring_.empty()) return no_filter();
  newest_ = std::max(newest_, floor_divided(now.count(), length_));
  Generation& generation = ring_[place_in(newest_, ring_.size())];
  if (generation.number != newest_) {
    generation.filter.clear();
    generation.number = newest_;
  }
  return generation.filter.add(key);
}

bool FilterWindow::may_contain(std::string_view key, std::chrono::milliseconds now) const {
  if (ring_.empty()) return true;
  const std::int64_t oldest = floor_divided(now.count(), length_) - static_cast<std::int64_t>(ring_.size()) + 1;
  const std::uint64_t hash = ring_.front().filter.hash(key);
  return std::any_of(ring_.begin(), ring_.end(), [&](const Generation& generation) {
    return generation.number >= oldest && generation.filter.may_contain_hash(hash);
  });
}

std::uint64_t FilterWindow::bytes() const {
  std::uint64_t bytes = 0;
  for (const Generation& generation : ring_) bytes += generation.filter.info().bytes;
  return bytes;
}

}  // namespace tamis
