// Whether what a store answers is what was written to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/torture/script.h"
#include "tamis/db.h"

namespace tamis::cli {

/// What a look at a store came to.
struct Finding {
  enum class Kind : std::uint8_t {
    kRight,
    kTold,  ///< The store said that it cannot answer. Right for a damaged one, wrong for any other.
    kWrong,
  };
  Kind kind = Kind::kRight;
  std::string what = {};
  StatusCode code = StatusCode::kOk;  ///< Of what the store said.

  [[nodiscard]] bool is_right() const { return kind == Kind::kRight; }

  static Finding wrong(std::string what) { return {.kind = Kind::kWrong, .what = std::move(what)}; }
  static Finding told(std::string_view doing, const Status& status);
};

/// How many commits of each writer there are, at one moment.
using Moment = std::vector<std::uint64_t>;

/// Right when for each writer at_least ≤ found ≤ at_most: all that was acknowledged is there, and nothing that was not
/// begun.
Finding check_between(const Moment& at_least, const Moment& found, const Moment& at_most);

/// Right when the value is what the key held after some number of commits from `at_least` to `at_most`.
Finding check_value(const TortureScript& script, std::uint32_t writer, std::uint32_t index,
                    const std::optional<std::string>& value, std::uint64_t at_least, std::uint64_t at_most);

/// Reads a store and compares. Every function but get reads one moment of the store: either the one it finds by the
/// writers' notes and tells, or one that it is told.
///
/// Threads: one at a time; others may write meanwhile.
class TortureReader {
 public:
  TortureReader(const DB& db, const TortureScript& script);

  /// Walks over everything. The moment of a walk that did not get as far as the notes is empty.
  Finding scan(const Snapshot* snapshot, Moment& found);
  /// The same, for a moment that is known, from the last key to the first.
  Finding scan_backwards(const Snapshot* snapshot, const Moment& moment);
  /// One writer's keys, which a prefix filter may serve.
  Finding scan_prefix(std::uint32_t writer, const Snapshot* snapshot, const Moment& moment);
  /// All notes and these keys of each writer in one call.
  Finding multi_get(const std::vector<std::uint32_t>& indexes, const Snapshot* snapshot, Moment& found);
  /// Every key by itself, and beside each one that was never written. A damaged store may refuse some.
  Finding get_all(const Snapshot* snapshot, const Moment& moment);
  /// One key as of now, between these numbers of commits of its writer; `at_most` is read after the key.
  template <typename AtMost>
  Finding get(std::uint32_t writer, std::uint32_t index, std::uint64_t at_least, AtMost at_most) {
    ++reads_;
    const auto value = db_.get(script_.key(writer, index));
    if (!value.ok()) return Finding::told("get", value.status());
    return check_value(script_, writer, index, *value, at_least, at_most());
  }

  /// Keys that were read and compared.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  struct Place {
    std::string key;
    std::uint32_t writer;
    std::uint32_t index;
  };

  Finding take_notes(std::vector<std::optional<std::string>> notes, Moment& found) const;
  Finding read_notes(Iterator& walk, Moment& found);
  Finding compare(const Iterator& walk, const Place& place, const Moment& moment, bool& is_there);

  const DB& db_;
  const TortureScript& script_;
  std::vector<Place> places_;  // In the order of the store.
  std::uint64_t reads_ = 0;
};

}  // namespace tamis::cli
