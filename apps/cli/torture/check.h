// Checks a store's answers against what was written.
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

/// The result of a check.
struct Finding {
  enum class Kind : std::uint8_t {
    kRight,
    kTold,  ///< The store reported that it cannot answer. Right for a damaged store, wrong for any other.
    kWrong,
  };
  Kind kind = Kind::kRight;
  std::string what = {};
  StatusCode code = StatusCode::kOk;  ///< Of the store's error.

  [[nodiscard]] bool is_right() const { return kind == Kind::kRight; }

  static Finding wrong(std::string what) { return {.kind = Kind::kWrong, .what = std::move(what)}; }
  static Finding told(std::string_view doing, const Status& status);
};

/// How many commits of each writer a moment includes.
using Moment = std::vector<std::uint64_t>;

/// Right if at_least ≤ found ≤ at_most for each writer: everything acknowledged is there, and nothing that was not
/// begun.
Finding check_between(const Moment& at_least, const Moment& found, const Moment& at_most);

/// Right if the value is what the key held after some number of commits from `at_least` to `at_most`.
Finding check_value(const TortureScript& script, std::uint32_t writer, std::uint32_t index,
                    const std::optional<std::string>& value, std::uint64_t at_least, std::uint64_t at_most);

/// Right if the store finds nothing wrong with its files.
Finding verify(const DB& db);

/// Reads both keyspaces of a store and compares. Every function but get reads one moment of the store: one that it
/// finds from the writers' notes and returns, or one that it is given.
///
/// Threads: one at a time; others may write meanwhile.
class TortureReader {
 public:
  /// Makes the second keyspace if it is missing and the store can be written.
  TortureReader(DB& db, const TortureScript& script);

  /// Scans everything. The moment is empty if the scan ended before the notes.
  Finding scan(const Snapshot* snapshot, Moment& found);
  /// Scans a known moment from the last key to the first.
  Finding scan_backwards(const Snapshot* snapshot, const Moment& moment);
  /// Scans one writer's keys; may use a prefix filter.
  Finding scan_prefix(std::uint32_t writer, const Snapshot* snapshot, const Moment& moment);
  /// Gets all notes and these keys of each writer in one call.
  Finding multi_get(const std::vector<std::uint32_t>& indexes, const Snapshot* snapshot, Moment& found);
  /// Gets every key, and next to each a key that was never written. A damaged store may refuse some.
  Finding get_all(const Snapshot* snapshot, const Moment& moment);
  /// Gets a key as of now, between these numbers of its writer's commits; `at_most` is read after the key.
  template <typename AtMost>
  Finding get(std::uint32_t writer, std::uint32_t index, std::uint64_t at_least, AtMost at_most) {
    ++reads_;
    const auto value = keyspace_of(index).get(script_.key(writer, index));
    if (!value.ok()) return Finding::told("get", value.status());
    return check_value(script_, writer, index, *value, at_least, at_most());
  }

  /// Keys read and compared.
  [[nodiscard]] std::uint64_t reads() const { return reads_; }

 private:
  struct Place {
    std::string key;
    std::uint32_t writer;
    std::uint32_t index;
  };

  /// A keyspace and the keys that belong there, in key order.
  struct Part {
    Keyspace keyspace;
    std::vector<Place> places;
  };

  [[nodiscard]] const Keyspace& keyspace_of(std::uint32_t index) const {
    return (TortureScript::is_in_second_keyspace(index) ? second_ : default_).keyspace;
  }
  [[nodiscard]] Finding check_second(const Moment& moment) const;
  Finding scan_part(const Part& part, Iterator& walk, const Moment& moment);
  Finding scan_part_backwards(const Part& part, Iterator& walk, const Moment& moment);
  Finding take_notes(std::vector<std::optional<std::string>> notes, Moment& found) const;
  Finding read_notes(Iterator& walk, Moment& found);
  Finding compare(Iterator& walk, const Place& place, const Moment& moment);

  DB& db_;
  const TortureScript& script_;
  Part default_;
  Part second_;
  Status opened_;  // Why the second keyspace cannot be read, if so.
  std::uint64_t reads_ = 0;
};

}  // namespace tamis::cli
