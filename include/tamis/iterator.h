// Iteration over keys in order.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/expiry.h"
#include "tamis/export.h"
#include "tamis/snapshot.h"
#include "tamis/status.h"

namespace tamis {

/// The keys that a scan visits, and their order: keys at or after `from`, before `to`, and beginning with `prefix`.
/// Each bound is optional; a key must satisfy all bounds given.
struct ScanOptions {
  std::string_view prefix = {};               ///< Only keys that begin with this.
  std::optional<std::string_view> from = {};  ///< The lower bound, inclusive.
  std::optional<std::string_view> to = {};    ///< The upper bound, exclusive.
  /// Start at the last key of the range. A range-for, Iterator::advance and Iterator::seek then go from larger to
  /// smaller keys. Iterator::next and Iterator::previous keep their meaning: the next larger and the next smaller key.
  bool reverse = false;
  /// Start on a key. False: on none, until a call of seek, seek_before, seek_to_first or seek_to_last. A program that
  /// seeks first saves the search for the end of the range.
  bool positioned = true;
  const Snapshot* snapshot = nullptr;  ///< Read the store as of this snapshot; null: now.
  bool fills_cache = true;             ///< False for a long scan that should not evict blocks others read.
};

class IteratorState;  // src/engine.

/// A position in a range of keys. It is on a key (valid), or on none: past either end of the range, after an error, or
/// before the first seek of a scan that is not positioned.
/// It reads the store as of its creation; later writes are invisible.
///
///     tamis::Iterator cities = db.scan({.prefix = "l"});
///     for (const auto& [key, value] : cities) use(key, value);
///     if (!cities.status().ok()) return cities.status();   // An error ended the loop.
///
/// Keep the iterator in a variable, as above: looping over the temporary `db.scan(...)` works, but its status is lost
/// when the loop ends. The same loop without range-for:
///
///     for (; cities.valid(); cities.advance()) use(cities.key(), cities.value());
///
/// An iterator that was default-constructed or moved from belongs to no store. It is on no key, moving it does nothing,
/// and its status is kClosed.
///
/// Threads: one at a time. May outlive its DB; moving it then ends the scan with kClosed.
class TAMIS_EXPORT Iterator {
 public:
  /// The element of a range-for: views valid until the iterator moves.
  struct Entry {
    std::string_view key;    ///< See Iterator::key.
    std::string_view value;  ///< See Iterator::value.
  };

  /// The iterator of a range-for: a C++20 input iterator that moves its Iterator.
  ///
  /// Threads: one at a time. Must not outlive its Iterator, nor be used after that was moved from.
  class Cursor {
   public:
    using iterator_concept = std::input_iterator_tag;  ///< Single-pass.
    using value_type = Entry;                          ///< Key and value.
    using difference_type = std::ptrdiff_t;            ///< Required of every iterator.

    /// The end of any range.
    Cursor() = default;
    /// The position of `walk`.
    explicit Cursor(Iterator& walk) : walk_(&walk) {}

    /// The current entry; empty views at the end.
    [[nodiscard]] Entry operator*() const { return walk_ == nullptr ? Entry{} : Entry{walk_->key(), walk_->value()}; }
    /// Moves the Iterator one key in the direction of its scan.
    Cursor& operator++() {
      if (walk_ != nullptr) walk_->advance();
      return *this;
    }
    /// Same.
    void operator++(int) { ++*this; }
    /// Whether the Iterator is on no key.
    friend bool operator==(const Cursor& cursor, std::default_sentinel_t) {
      return cursor.walk_ == nullptr || !cursor.walk_->valid();
    }

   private:
    Iterator* walk_ = nullptr;
  };

  /// Belongs to no store.
  Iterator() noexcept;
  /// For DB::scan.
  explicit Iterator(std::unique_ptr<IteratorState> state);
  /// Moves the position; the source then belongs to no store.
  Iterator(Iterator&&) noexcept;
  /// Like the constructor; drops the position this iterator had.
  Iterator& operator=(Iterator&&) noexcept;
  /// Releases the tables and memtables the scan kept alive.
  ~Iterator();

  /// Whether it is on a key.
  [[nodiscard]] bool valid() const;
  /// The current key, a view valid until the iterator moves; empty if not valid().
  [[nodiscard]] std::string_view key() const;
  /// The current value, a view valid until the iterator moves; empty if not valid().
  [[nodiscard]] std::string_view value() const;
  /// When the current value expires; none if it does not, or if not valid().
  [[nodiscard]] std::optional<ExpiryTime> expires_at() const;
  /// Why it is on no key: ok past either end of the range, otherwise the error that ended the scan.
  [[nodiscard]] const Status& status() const;

  /// The rest of the range, from the current position, in the direction of the scan. After leaving a loop early,
  /// another loop resumes with the same key. Steps allocate nothing.
  [[nodiscard]] Cursor begin() { return Cursor(*this); }
  /// Equal to a Cursor that is on no key.
  [[nodiscard]] std::default_sentinel_t end() const { return std::default_sentinel; }

  /// Moves one key in the direction of the scan: next(), or previous() for a reverse scan.
  void advance();
  /// Moves to the next larger key, in every scan. No effect if not valid().
  void next();
  /// Moves to the next smaller key, in every scan. No effect if not valid().
  void previous();
  /// Moves to the first key at or after `key` in the direction of the scan: the smallest key ≥ `key` or, for a reverse
  /// scan, the largest key ≤ `key`. Stays inside the range.
  void seek(std::string_view key);
  /// Moves to the largest key < `key` inside the range, in every scan.
  void seek_before(std::string_view key);
  /// Moves to the smallest key of the range, in every scan.
  void seek_to_first();
  /// Moves to the largest key of the range, in every scan.
  void seek_to_last();

 private:
  std::unique_ptr<IteratorState> state_;
};

}  // namespace tamis
