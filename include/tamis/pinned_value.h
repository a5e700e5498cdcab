// A value that is read in place.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

namespace tamis {

/// A handle that keeps a value alive: a large one in place, in a cached block or a memtable, and one of up to 16 KiB as
/// a copy, which is cheaper. A handle that was default-constructed or moved from holds no value.
///
/// It may outlive its DB: it keeps the store's memory alive, but not the store open.
///
/// Threads: one at a time.
class PinnedValue {
 public:
  /// Holds no value.
  PinnedValue() = default;
  /// A view of bytes that live as long as `keeps`. DB::get_pinned makes these.
  PinnedValue(std::string_view view, std::shared_ptr<const void> keeps) : view_(view), keeps_(std::move(keeps)) {}
  /// Moves the value; the source then holds none.
  PinnedValue(PinnedValue&& other) noexcept
      : view_(std::exchange(other.view_, {})), keeps_(std::exchange(other.keeps_, {})) {}
  /// Like the constructor; releases the value held before.
  PinnedValue& operator=(PinnedValue&& other) noexcept {
    PinnedValue taken(std::move(other));
    std::swap(view_, taken.view_);
    std::swap(keeps_, taken.keeps_);
    return *this;
  }

  /// A view of the value, valid as long as this handle; empty when it holds none.
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  std::string_view view_;
  std::shared_ptr<const void> keeps_;
};

}  // namespace tamis
