// Iterates over the tables of a run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "entry/entry_iterator.h"

namespace tamis {

/// Iterates over parts in key order that do not overlap. The bounds tell which part a key belongs to, so only the
/// current part is open, and a part that is not reached is never opened.
///
/// For readers, which skip what is newer than their moment, a move forwards to the begin of a part does not open it
/// either: it shows an entry of the part's smallest key and kMaxSequence, and the next move opens the part. So a merge
/// of runs opens only those that it reaches.
///
/// Parts is a value with
///
///     static constexpr bool kAreForReaders;
///     std::string_view floor(std::size_t part) const;      // For readers. Entries before it are omitted.
///     std::size_t size() const;
///     std::string_view smallest(std::size_t part) const;   // Both inclusive.
///     std::string_view largest(std::size_t part) const;
///     void open(std::size_t part);                         // Replaces the open one.
///     auto& inside();                                      // The EntryIterator of the open part.
///
/// Threads: as EntryIterator.
template <typename Parts>
class RunIterator final : public EntryIterator {
 public:
  /// Constructs Parts from the arguments.
  template <typename... Arguments>
  explicit RunIterator(Arguments&&... arguments) : parts_(std::forward<Arguments>(arguments)...) {}

  void seek(EntryPosition target) override {
    const std::size_t part = first_reaching(target.key);
    if (part == parts_.size()) return show_end();
    if (at_ != part && begins_after(part, target.key)) return show_begin(part);
    enter(part);
    parts_.inside().seek(not_omitted(part, target));
    show_from(Direction::kForwards);
  }
  void seek_backwards(EntryPosition target) override {
    const std::size_t after = first_where([&](std::size_t part) { return parts_.smallest(part) > target.key; });
    if (after == 0) return show_end();
    enter(after - 1);
    parts_.inside().seek_backwards(target);
    show_from(Direction::kBackwards);
  }
  void seek_to_first() override {
    if (parts_.size() == 0) return show_end();
    if (Parts::kAreForReaders) return show_begin(0);
    enter(0);
    parts_.inside().seek_to_first();
    show_from(Direction::kForwards);
  }
  void seek_to_last() override {
    if (parts_.size() == 0) return show_end();
    enter(parts_.size() - 1);
    parts_.inside().seek_to_last();
    show_from(Direction::kBackwards);
  }
  void next() override {
    TAMIS_INVARIANT(valid());
    if (is_at_begin()) [[unlikely]] {
      open_begin();
    } else {
      lead(parts_.inside());
      parts_.inside().next();
    }
    show_from(Direction::kForwards);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    if (is_at_begin()) [[unlikely]] {
      if (begins_ == 0) return show_end();
      enter(begins_ - 1);
      parts_.inside().seek_to_last();
    } else {
      lead(parts_.inside());
      parts_.inside().previous();
    }
    show_from(Direction::kBackwards);
  }
  void prepare_seek(EntryPosition target) override {
    const std::size_t part = first_reaching(target.key);
    if (part == parts_.size() || (at_ != kNone && part != at_)) return;  // Must not close what is shown.
    if (at_ != part && begins_after(part, target.key)) return;
    enter(part);
    parts_.inside().prepare_seek(not_omitted(part, target));
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// The first part for which `holds` is true, as it is for all later ones; size() if there is none.
  template <typename Holds>
  std::size_t first_where(const Holds& holds) const {
    std::size_t first = 0;
    std::size_t end = parts_.size();
    while (first < end) {
      const std::size_t middle = first + (end - first) / 2;
      if (holds(middle)) {
        end = middle;
      } else {
        first = middle + 1;
      }
    }
    return first;
  }
  /// Most seeks go to the beginning of the range that the parts were chosen for.
  std::size_t first_reaching(std::string_view key) const {
    if (parts_.size() > 0 && parts_.largest(0) >= key) return 0;
    return first_where([&](std::size_t part) { return parts_.largest(part) >= key; });
  }
  void enter(std::size_t part) {
    if (at_ == part) return;
    parts_.open(part);
    at_ = static_cast<std::uint32_t>(part);
  }
  /// Shows the open part's entry; at its end continues in the parts after it, or before it.
  void show_from(Direction direction) {
    while (!parts_.inside().valid()) {
      if (!parts_.inside().status().ok()) return show_error(parts_.inside().status());
      if (direction == Direction::kForwards) {
        if (at_ + 1 == parts_.size()) return show_end();
        if (Parts::kAreForReaders) return show_begin(at_ + 1);
        enter(at_ + 1);
        parts_.inside().seek_to_first();
      } else {
        if (at_ == 0) return show_end();
        enter(at_ - 1);
        parts_.inside().seek_to_last();
      }
    }
    if (direction == Direction::kBackwards && is_omitted()) return show_end();
    show_as(parts_.inside());
  }

  /// Where the part begins: at its smallest key, or at the floor.
  [[nodiscard]] std::string_view begin_of(std::size_t part) const {
    if constexpr (Parts::kAreForReaders) return std::max(parts_.smallest(part), parts_.floor(part));
    return parts_.smallest(part);
  }
  [[nodiscard]] bool begins_after(std::size_t part, std::string_view key) const {
    return Parts::kAreForReaders && key < begin_of(part);
  }
  [[nodiscard]] EntryPosition not_omitted(std::size_t part, EntryPosition target) const {
    if constexpr (Parts::kAreForReaders) {
      if (target.key < parts_.floor(part)) return {parts_.floor(part), kMaxSequence};
    }
    return target;
  }
  [[nodiscard]] bool is_at_begin() const { return &entry() == &begin_; }
  void show_begin(std::size_t part) {
    begins_ = static_cast<std::uint32_t>(part);
    begin_.key = begin_of(part);
    show(begin_);
  }
  void open_begin() {
    enter(begins_);
    if (begin_.key == parts_.smallest(begins_)) {
      parts_.inside().seek_to_first();
    } else {
      parts_.inside().seek(begin_.position());
    }
  }
  /// The open part's entry, backwards.
  [[nodiscard]] bool is_omitted() {
    if constexpr (Parts::kAreForReaders) return parts_.inside().entry().key < parts_.floor(at_);
    return false;
  }

  Parts parts_;
  std::uint32_t at_ = kNone;  // The open part.
  std::uint32_t begins_ = 0;  // The part of begin_.
  Entry begin_ = {.key = {}, .value = {}, .sequence = kMaxSequence, .kind = EntryKind::kDelete};
};

}  // namespace tamis
