// Walking over keys in order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/snapshot.h"
#include "tamis/status.h"

namespace tamis {

/// The keys from `from` on and before `to`, inside `prefix`; all are optional and all that are given must hold.
struct ScanOptions {
  std::string_view prefix = {};
  std::optional<std::string_view> from = {};
  std::optional<std::string_view> to = {};  ///< Exclusive.
  bool reverse = false;                     ///< Begin at the last key. next() still goes forwards.
  const Snapshot* snapshot = nullptr;       ///< Null: as of now.
  bool fills_cache = true;                  ///< False for one long walk that should not push out what others read.
};

class IteratorState;  // src/engine.

/// Stands on a key of its range, or on none: beyond either end, or after an error. It sees one moment of the store,
/// whatever is written meanwhile.
///
///     for (auto it = db.scan({.prefix = "l"}); it.valid(); it.next()) use(it.key(), it.value());
///     // it.status() tells why it ended.
///
/// Threads: one at a time. May outlive its DB, and then answers kClosed.
class TAMIS_EXPORT Iterator {
 public:
  explicit Iterator(std::unique_ptr<IteratorState> state);
  Iterator(Iterator&&) noexcept;
  Iterator& operator=(Iterator&&) noexcept;
  ~Iterator();

  [[nodiscard]] bool valid() const;
  /// Both live until the iterator moves. Precondition: valid().
  [[nodiscard]] std::string_view key() const;
  [[nodiscard]] std::string_view value() const;
  /// ok at either end of the range; otherwise why the walk stopped.
  [[nodiscard]] const Status& status() const;

  /// Precondition: valid().
  void next();
  void previous();
  /// To the first key at or after this one, inside the range.
  void seek(std::string_view key);
  /// To the last key before this one, inside the range.
  void seek_before(std::string_view key);
  void seek_to_first();
  void seek_to_last();

 private:
  std::unique_ptr<IteratorState> state_;
};

}  // namespace tamis
