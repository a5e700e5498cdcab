// A group of changes applied atomically.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/expiry.h"
#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

class Keyspace;  // <tamis/keyspace.h>

/// A list of puts, removes and merges that DB::write applies atomically and in order: the later of two changes to one
/// key wins. Keys and values are copied in. Both may be empty and may hold any bytes.
///
///     tamis::Batch batch;
///     batch.put("lyon", "522969");
///     batch.remove("paris");
///     tamis::Status s = db.write(batch);
///
/// put and remove return nothing, so a batch can be built as above. Errors are not lost: status() keeps the first one,
/// the batch accepts no further changes, and DB::write returns that status and writes nothing. clear() makes the batch
/// usable again.
///
/// Threads: like std::string.
class TAMIS_EXPORT Batch {
 public:
  static constexpr std::size_t kMaxKeyBytes = std::size_t{16} << 20;       ///< Max key length: 16 MiB.
  static constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 30;  ///< Max value length: 1 GiB.

  struct Operation;
  class Iterator;
  using iterator = Iterator;        ///< Standard container name.
  using const_iterator = Iterator;  ///< Standard container name.

  /// An empty batch.
  Batch() = default;
  /// Copies changes and status.
  Batch(const Batch&) = default;
  /// Copies changes and status.
  Batch& operator=(const Batch&) = default;
  /// Moves changes and status. The source becomes empty and stays usable.
  Batch(Batch&& other) noexcept { swap(other); }
  /// Like the constructor.
  Batch& operator=(Batch&& other) noexcept {
    Batch taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Batch() = default;

  /// Adds a put. A key over kMaxKeyBytes or a value over kMaxValueBytes is an error, kept in status(). The views must
  /// not point into this batch.
  void put(std::string_view key, std::string_view value);
  /// Adds a remove. Removing an absent key is not an error.
  void remove(std::string_view key);
  /// Adds a remove of all keys from `from` (inclusive) to `to` (exclusive), or to the last key if there is no `to`: one
  /// change, whatever it removes. It covers what the batch has put before, not what it puts afterwards. An empty range,
  /// `to` at or before `from`, adds nothing.
  void remove_range(std::string_view from, std::optional<std::string_view> to);
  /// Adds a merge operand, as DB::merge: when the batch is written, kInvalidArgument if the keyspace has no merge
  /// operator. It is folded with what the batch has put before.
  void merge(std::string_view key, std::string_view operand);
  /// Adds a put to a keyspace. A batch may span keyspaces, all of one store.
  void put(const Keyspace& keyspace, std::string_view key, std::string_view value);
  /// Adds a put of a value that expires this long after the write. kNeverExpires: never; 0: as the put above; a
  /// negative time is an error, kept in status().
  void put(std::string_view key, std::string_view value, std::chrono::milliseconds expires_in);
  /// Adds a put of a value that expires at this time, rounded up to a millisecond.
  void put(std::string_view key, std::string_view value, std::chrono::system_clock::time_point expires_at);
  /// The same in a keyspace.
  void put(const Keyspace& keyspace, std::string_view key, std::string_view value,
           std::chrono::milliseconds expires_in);
  /// The same in a keyspace.
  void put(const Keyspace& keyspace, std::string_view key, std::string_view value,
           std::chrono::system_clock::time_point expires_at);
  /// Adds a remove from a keyspace.
  void remove(const Keyspace& keyspace, std::string_view key);
  /// Adds a merge operand to a key of a keyspace.
  void merge(const Keyspace& keyspace, std::string_view key, std::string_view operand);
  /// Adds a remove of a range of keys of a keyspace.
  void remove_range(const Keyspace& keyspace, std::string_view from, std::optional<std::string_view> to);
  /// Appends the changes of another batch, or adopts its error. A batch may be appended to itself.
  void append(const Batch& other);
  /// Drops the changes and the error; keeps the memory.
  void clear();
  /// Swaps changes and status.
  void swap(Batch& other) noexcept;

  /// ok, or the first error.
  [[nodiscard]] const Status& status() const { return status_; }

  /// The number of changes.
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Whether there are no changes.
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// The size of the changes in the journal: keys, values and a few bytes each.
  [[nodiscard]] std::size_t byte_size() const;

  /// Iterates over the changes in insertion order. Iterators and their views are valid until the batch changes.
  ///
  ///     for (const tamis::Batch::Operation& op : batch) use(op.kind, op.key, op.value);
  [[nodiscard]] Iterator begin() const;
  /// Past the last change.
  [[nodiscard]] Iterator end() const;

 private:
  friend struct BatchInside;  // src/entry/batch_inside.h.

  void add_change(std::uint32_t keyspace, std::uint8_t kind, std::string_view key, std::string_view value);
  void add_expiring(std::uint32_t keyspace, std::string_view key, std::string_view value, std::uint64_t due);
  void add_put(std::uint32_t keyspace, std::string_view key, std::string_view value,
               std::chrono::milliseconds expires_in);
  void add_put(std::uint32_t keyspace, std::string_view key, std::string_view value,
               std::chrono::system_clock::time_point expires_at);
  std::uint32_t id_of(const Keyspace& keyspace);
  [[nodiscard]] bool accepts(std::string_view key, std::string_view value);
  void enter(std::uint32_t keyspace, std::size_t bytes);
  void belong_to(std::uint64_t store);

  std::string entries_;  // Encoded as in src/entry/batch_format.h, so that writing a batch is one copy.
  std::size_t count_ = 0;
  Status status_;
  std::uint32_t first_keyspace_ = 0;  // Of the changes before the first marker in entries_.
  std::uint32_t last_keyspace_ = 0;   // Of the last change.
  bool has_markers_ = false;
  bool has_long_keys_ = false;  // Of more than 65,535 bytes.
  bool has_range_deletes_ = false;
  bool has_merges_ = false;
  bool has_expiry_ = false;
  bool has_lifetimes_ = false;  // A value expires some time after the write.
  std::uint64_t store_ = 0;     // The number of the store whose keyspaces were named; 0: only the default one was.
};

/// One change of a batch. The views point into the batch.
struct Batch::Operation {
  /// What the change does.
  enum class Kind : std::uint8_t {
    kPut,          ///< Sets the value of the key.
    kRemove,       ///< Removes the key.
    kRemoveRange,  ///< Removes the keys from `key` up to `value`.
    kMerge,        ///< Merges the operand `value` into the key.
  };
  Kind kind = Kind::kPut;                     ///< What the change does.
  std::string_view key;                       ///< The key it changes; for kRemoveRange, the first one.
  std::string_view value;                     ///< The new value; for kRemoveRange, the end, or empty if there is none;
                                              ///< for kMerge, the operand.
  std::uint32_t keyspace_id = 0;              ///< The keyspace it changes; 0 is the default one.
  std::chrono::milliseconds expires_in = {};  ///< How long after the write the value expires; 0 if it does not say so.
  std::optional<ExpiryTime> expires_at = {};  ///< When the value expires, if that was given as a time.

  /// Compares all members.
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A forward iterator that decodes its elements on the fly.
class TAMIS_EXPORT Batch::Iterator {
 public:
  using iterator_concept = std::forward_iterator_tag;  ///< The C++20 category.
  using iterator_category = std::input_iterator_tag;   ///< The C++17 category: elements are returned by value.
  using value_type = Operation;                        ///< One change.
  using difference_type = std::ptrdiff_t;              ///< Required of every iterator.
  using reference = Operation;                         ///< Returned by value.
  using pointer = const Operation*;                    ///< Into the iterator.

  /// Belongs to no batch.
  Iterator() = default;

  /// The current change.
  Operation operator*() const { return operation_; }
  /// The current change.
  const Operation* operator->() const { return &operation_; }
  /// Moves to the next change.
  Iterator& operator++() {
    at_ = next_;
    load();
    return *this;
  }
  /// Moves to the next change; returns the old position.
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  /// Whether both are at the same position in the same batch.
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

 private:
  friend class Batch;
  Iterator(const char* at, const char* end, std::uint32_t keyspace);
  void load();
  void load_expiry(std::string_view stored);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* next_ = nullptr;
  Operation operation_;
};

/// Swaps changes and status.
inline void swap(Batch& a, Batch& b) noexcept { a.swap(b); }

}  // namespace tamis
