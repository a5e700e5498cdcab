// Walking over keys in order.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/snapshot.h"
#include "tamis/status.h"

namespace tamis {

/// Which keys a scan visits, and in which order: those at or after `from`, before `to`, and beginning with `prefix`.
/// Each bound is optional; a key must satisfy all that are given.
struct ScanOptions {
  std::string_view prefix = {};               ///< Only keys that begin with this.
  std::optional<std::string_view> from = {};  ///< The smallest key, inclusive.
  std::optional<std::string_view> to = {};    ///< The largest key, exclusive.
  /// Start at the last key of the range. A range-for, Iterator::advance and Iterator::seek then run from larger keys
  /// to smaller ones. Iterator::next and Iterator::previous keep their meaning: a larger key, a smaller key.
  bool reverse = false;
  const Snapshot* snapshot = nullptr;  ///< Read the store as of this snapshot; null: as of now.
  bool fills_cache = true;             ///< False for a long scan that should not evict the blocks others read.
};

class IteratorState;  // src/engine.

/// A position in a range of keys. It stands on a key (valid), or on none: beyond either end of the range, or after an
/// error. It sees the store as of the moment it was made; later writes do not show.
///
///     tamis::Iterator cities = db.scan({.prefix = "l"});
///     for (const auto& [key, value] : cities) use(key, value);
///     if (!cities.status().ok()) return cities.status();   // An error ended the loop.
///
/// Keep the iterator in a variable, as above: a loop over the temporary `db.scan(...)` works, but its status is gone
/// when the loop ends. The same loop without range-for:
///
///     for (; cities.valid(); cities.advance()) use(cities.key(), cities.value());
///
/// An iterator that was default-constructed or moved from belongs to no store. It stands on no key, moving it does
/// nothing, and its status is kClosed.
///
/// Threads: one at a time. May outlive its DB; moving it then ends the walk with kClosed.
class TAMIS_EXPORT Iterator {
 public:
  /// What a range-for shows: views that live until the iterator moves.
  struct Entry {
    std::string_view key;    ///< See Iterator::key.
    std::string_view value;  ///< See Iterator::value.
  };

  /// What a range-for steps: a C++20 input iterator that moves its Iterator.
  ///
  /// Threads: one at a time. Must not outlive its Iterator, nor be used after that was moved.
  class Cursor {
   public:
    using iterator_concept = std::input_iterator_tag;  ///< One pass.
    using value_type = Entry;                          ///< Key and value.
    using difference_type = std::ptrdiff_t;            ///< Required of every iterator.

    /// At the end of any range.
    Cursor() = default;
    /// Where `walk` stands.
    explicit Cursor(Iterator& walk) : walk_(&walk) {}

    /// The entry the Iterator stands on; empty views at the end.
    [[nodiscard]] Entry operator*() const { return walk_ == nullptr ? Entry{} : Entry{walk_->key(), walk_->value()}; }
    /// Moves the Iterator one key on, in the direction of its scan.
    Cursor& operator++() {
      if (walk_ != nullptr) walk_->advance();
      return *this;
    }
    /// The same.
    void operator++(int) { ++*this; }
    /// Whether the Iterator stands on no key.
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
  /// Takes over the position of the other iterator, which then belongs to no store.
  Iterator(Iterator&&) noexcept;
  /// The same; the position this iterator had is given up.
  Iterator& operator=(Iterator&&) noexcept;
  /// Releases the tables and memtables that the walk kept.
  ~Iterator();

  /// Whether it stands on a key.
  [[nodiscard]] bool valid() const;
  /// The key it stands on, as a view that lives until the iterator moves; empty when not valid().
  [[nodiscard]] std::string_view key() const;
  /// The value of that key, as a view that lives until the iterator moves; empty when not valid().
  [[nodiscard]] std::string_view value() const;
  /// Why it stands on no key: ok beyond either end of the range, otherwise the error that ended the walk.
  [[nodiscard]] const Status& status() const;

  /// The rest of the range, from where the iterator stands, in the direction of the scan. A loop that is left early can
  /// be resumed by another one, which begins with the same key. Allocates nothing per step.
  [[nodiscard]] Cursor begin() { return Cursor(*this); }
  /// Compares equal to a Cursor that stands on no key.
  [[nodiscard]] std::default_sentinel_t end() const { return std::default_sentinel; }

  /// One key on in the direction of the scan: next(), or previous() for a reverse scan.
  void advance();
  /// To the next larger key, in every scan. Does nothing when not valid().
  void next();
  /// To the next smaller key, in every scan. Does nothing when not valid().
  void previous();
  /// To the first key at or after this one in the direction of the scan: the smallest key ≥ `key`, or, for a reverse
  /// scan, the largest key ≤ `key`. Stays inside the range.
  void seek(std::string_view key);
  /// To the largest key < `key` inside the range, in every scan.
  void seek_before(std::string_view key);
  /// To the smallest key of the range, in every scan.
  void seek_to_first();
  /// To the largest key of the range, in every scan.
  void seek_to_last();

 private:
  std::unique_ptr<IteratorState> state_;
};

}  // namespace tamis
