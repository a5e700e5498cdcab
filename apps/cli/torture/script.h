// What torture writes: commits that can be recomputed, so that any answer of the store can be checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/batch.h"
#include "tamis/keyspace.h"

namespace tamis::cli {

/// The commits of all writers of one store. Each writer has its own keys and numbers its commits 1, 2, 3, …; commit n
/// is one batch of a few puts, removes, merges and removes of ranges, plus a note of n under the writer's note key. So
/// the notes of one moment determine what every key holds at that moment. Every other key is in a second keyspace; the
/// notes are in the default one.
///
/// Invariants: everything follows from the seed; nothing is stored. Values that expire do so long before or long after
/// the run. Commit n puts or removes key n modulo the number of keys (and changes others), so what a key holds is the
/// work of the last few commits. No batch exceeds 80 KiB, which the smallest memory that torture draws can take.
///
/// Threads: any.
class TortureScript {
 public:
  static constexpr std::uint32_t kMaxWriters = 8;
  static constexpr std::string_view kSecondKeyspace = "second";
  static constexpr std::string_view kMergeOperator = "append";  ///< The stores need it.

  struct Shape {
    std::uint64_t seed = 1;
    std::uint32_t writers = 4;
    std::uint32_t keys = 256;  ///< Per writer.
  };
  /// What a writer notes with each commit.
  struct Note {
    std::uint64_t commit = 0;
    /// The commits of each writer acknowledged when this one began: they precede it.
    std::vector<std::uint64_t> after;
  };

  explicit TortureScript(const Shape& shape) : shape_(shape) {}

  [[nodiscard]] std::uint32_t writers() const { return shape_.writers; }
  [[nodiscard]] std::uint32_t keys() const { return shape_.keys; }

  [[nodiscard]] std::string note_key(std::uint32_t writer) const;
  /// The prefix of all of a writer's keys, but not of note keys.
  [[nodiscard]] std::string prefix(std::uint32_t writer) const;
  [[nodiscard]] std::string key(std::uint32_t writer, std::uint32_t index) const;

  [[nodiscard]] static bool is_in_second_keyspace(std::uint32_t index) { return index % 2 == 1; }

  [[nodiscard]] Batch batch(std::uint32_t writer, const Note& note, const Keyspace& second) const;
  /// What the key holds after that many commits of its writer.
  [[nodiscard]] std::optional<std::string> value(std::uint32_t writer, std::uint32_t index,
                                                 std::uint64_t commits) const;
  /// Whether that commit changes the key.
  [[nodiscard]] bool touches(std::uint32_t writer, std::uint32_t index, std::uint64_t commit) const;
  /// Whether the key may hold this after that many commits if some changes of it were lost: a value that was put by one
  /// of them, or none, and operands that were merged.
  [[nodiscard]] bool may_be_left(std::uint32_t writer, std::uint32_t index, std::string_view value,
                                 std::uint64_t commits) const;
  /// Nullopt for bytes that no writer noted.
  [[nodiscard]] std::optional<Note> parse_note(std::string_view text) const;

 private:
  /// One change of a commit.
  struct Change {
    enum class Kind : std::uint8_t {
      kPut,
      kPutToExpire,  ///< In a hundred years.
      kPutExpired,   ///< The key is as if it were removed.
      kRemove,
      kMerge,
      kRemoveRange,  ///< Of the keys in the keyspace of `index` whose place is from `from` to `to`.
    };
    Kind kind = Kind::kPut;
    std::uint32_t index = 0;
    std::uint64_t draw = 0;      ///< Determines the value's length and bytes.
    std::size_t most_bytes = 0;  ///< Of the value.
    std::uint32_t from = 0;
    std::uint32_t to = 0;

    [[nodiscard]] bool is_put() const { return kind == Kind::kPut || kind == Kind::kPutToExpire; }
    [[nodiscard]] bool touches(std::uint32_t any_index) const;
  };

  [[nodiscard]] std::uint32_t changes(std::uint32_t writer, std::uint64_t commit) const;
  [[nodiscard]] Change change(std::uint32_t writer, std::uint64_t commit, std::uint32_t number) const;
  [[nodiscard]] std::string put_value(std::uint32_t writer, std::uint64_t commit, const Change& change) const;
  template <typename... Into>
  void add(Batch& batch, std::uint32_t writer, std::uint64_t commit, const Change& change, const Into&... into) const;

  Shape shape_;
};

}  // namespace tamis::cli
