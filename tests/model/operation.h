// One operation on a store, as data: made at random, run against a store, written down and read again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/status.h"

namespace tamis::test {

/// Every operation of a store. No switch over this has a default, so a verb that is not generated, or not compared with
/// the model, does not compile.
enum class Verb : std::uint8_t {
  kPut,
  kRemove,
  kRemoveRange,
  kMerge,
  kWrite,
  kTryWrite,
  kSync,
  kGet,
  kGetInto,
  kGetPinned,
  kMultiGet,
  kScan,
  kOpenIterator,  ///< Stays open during other operations.
  kMoveIterator,
  kDropIterator,
  kSnapshot,
  kRelease,
  kMakeKeyspace,  ///< Or changes the options of one that exists.
  kDropKeyspace,
  kBegin,  ///< A transaction, which stays open during other operations.
  kGetIn,  ///< In a transaction, as the next five.
  kScanIn,
  kWriteIn,
  kSavepoint,
  kRollbackTo,  ///< The last savepoint.
  kCommit,
  kRollback,
  kFlush,
  kCompact,
  kWaitIdle,
  kPassTime,
  kResume,
  kCheckpoint,  ///< The copy is opened, compared and destroyed.
  kFollow,      ///< A follower beside the writer, opened or moved on. It stays open during other operations.
  kVerify,
  kApproximateSize,
  kStats,
  kExplain,
  kPlan,
  kReopen,    ///< close, then open.
  kAbandon,   ///< Destroyed without close, handles still alive; then open.
  kCrash,     ///< The process dies: nothing is closed, everything written is kept; then open.
  kReadOnly,  ///< Closed, compared through a read-only opening, opened again.
  kRepair,    ///< Closed, repaired although undamaged, opened again.
};
inline constexpr auto kLastVerb = Verb::kRepair;
inline constexpr std::size_t kVerbs = static_cast<std::size_t>(kLastVerb) + 1;

std::string_view to_text(Verb verb);

/// Keyspaces by number; 0 is the default one. The others come and go.
inline constexpr std::uint32_t kKeyspaces = 4;
std::string name_of_keyspace(std::uint32_t keyspace);

/// A put, a remove, a remove of a range or a merge. The bytes of a value follow from two numbers.
struct Change {
  std::string key = {};
  std::uint32_t keyspace = 0;
  bool is_put = true;
  bool is_range = false;               ///< From `key` to `to`; then it is no put.
  std::optional<std::string> to = {};  ///< For a range: exclusive; none: to the last key.
  bool is_merge = false;               ///< Of the value as operand; then it is no put.
  std::uint32_t value_seed = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t expires_in = 0;  ///< In milliseconds; 0: never.

  [[nodiscard]] bool changes(std::string_view any_key) const {
    return is_range ? key <= any_key && (!to || any_key < *to) : key == any_key;
  }
  /// A range without keys.
  [[nodiscard]] bool is_empty() const { return is_range && to && *to <= key; }
  /// Whether there is a key that both change.
  [[nodiscard]] bool meets(const Change& other) const {
    if (!is_range) return other.changes(key);
    if (!other.is_range) return changes(other.key);
    return !is_empty() && !other.is_empty() && (!to || other.key < *to) && (!other.to || key < *other.to);
  }
  friend bool operator==(const Change&, const Change&) = default;
};

std::string value_of(const Change& change);

/// One step of an iterator.
struct Move {
  enum class Kind : std::uint8_t { kNext, kPrevious, kSeek, kSeekBefore, kFirst, kLast };
  Kind kind = Kind::kNext;
  std::string key = {};  ///< For seeks.

  friend bool operator==(const Move&, const Move&) = default;
};

struct Bounds {
  std::string prefix = {};
  std::optional<std::string> from = {};
  std::optional<std::string> to = {};
  bool reverse = false;

  friend bool operator==(const Bounds&, const Bounds&) = default;
};

/// Fields that a verb does not use are empty. Any list of operations can run: one that names a missing snapshot or
/// iterator reads the current state, or does nothing; one that names a missing keyspace means the default one. So
/// operations can be dropped from a list.
struct Operation {
  static constexpr std::uint32_t kSlots = 4;  ///< For snapshots, and as many for iterators.

  Verb verb = Verb::kGet;
  std::vector<Change> changes = {};
  bool sync = false;
  std::vector<std::string> keys = {};
  std::optional<std::uint32_t> slot = {};  ///< The snapshot to read at; the snapshot or iterator to make, move or drop.
  Bounds bounds = {};
  std::vector<Move> moves = {};
  bool fills_cache = true;
  std::uint32_t keyspace = 0;      ///< Of the keys or bounds, or the one to make or drop.
  std::uint32_t options_seed = 0;  ///< For the options of a keyspace; 0: none.
  std::uint32_t milliseconds = 0;  ///< That pass.

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// "put change=a%00b,17,200 sync": words with = between name and value, key bytes that are not letters or digits as
/// %HH, values as seed and length and perhaps a lifetime, "3/" before the key of a change in keyspace 3, "a->b" and
/// "a-" for ranges, "a+" before the operand of a merge.
std::string to_text(const Operation& operation);
Result<Operation> parse_operation(std::string_view line);

}  // namespace tamis::test
