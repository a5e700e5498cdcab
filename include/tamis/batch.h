// Several changes that happen together or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

/// A list of puts and removes for DB::write, which does all of them or none, in this order: the later of two changes to
/// one key wins. Keys and values are copied in; both may be empty and hold any bytes.
///
///     tamis::Batch batch;
///     batch.put("lyon", "522969");
///     batch.remove("paris");
///     tamis::Status s = db.write(batch);
///
/// put and remove return nothing, so that building a batch reads as it does above. What they refuse is not lost: the
/// first refusal is kept in status(), the batch takes no further changes, and DB::write returns that status and writes
/// nothing. clear() makes the batch usable again.
///
/// Threads: as a std::string.
class TAMIS_EXPORT Batch {
 public:
  static constexpr std::size_t kMaxKeyBytes = 65'535;           ///< The longest key.
  static constexpr std::uint64_t kMaxValueBytes = 0xffff'ffff;  ///< The longest value.

  struct Operation;
  class Iterator;
  using iterator = Iterator;        ///< As containers name it.
  using const_iterator = Iterator;  ///< As containers name it.

  /// Empty.
  Batch() = default;
  /// Copies changes and status.
  Batch(const Batch&) = default;
  /// Copies changes and status.
  Batch& operator=(const Batch&) = default;
  /// Takes over changes and status. The batch moved from is empty and usable.
  Batch(Batch&& other) noexcept { swap(other); }
  /// The same.
  Batch& operator=(Batch&& other) noexcept {
    Batch taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Batch() = default;

  /// Adds a put. Refuses, through status(), a key of more than kMaxKeyBytes or a value of more than kMaxValueBytes. The
  /// views must not point into this batch.
  void put(std::string_view key, std::string_view value);
  /// Adds a remove. It is no error if the key is absent from the store.
  void remove(std::string_view key);
  /// Adds the changes of another batch behind these, or takes over its refusal. A batch may be appended to itself.
  void append(const Batch& other);
  /// Forgets the changes and the refusal; keeps the memory.
  void clear();
  /// Exchanges changes and status.
  void swap(Batch& other) noexcept;

  /// ok, or the first refusal.
  [[nodiscard]] const Status& status() const { return status_; }

  /// The number of changes.
  [[nodiscard]] std::size_t size() const { return count_; }
  /// Whether there are none.
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// The bytes the changes take in the journal: their keys and values and a few bytes each.
  [[nodiscard]] std::size_t byte_size() const;

  /// The changes in the order in which they were added. Iterators and what they show live until the batch is changed.
  ///
  ///     for (const tamis::Batch::Operation& op : batch) use(op.kind, op.key, op.value);
  [[nodiscard]] Iterator begin() const;
  /// Behind the last change.
  [[nodiscard]] Iterator end() const;

 private:
  friend std::string_view encoded_entries(const Batch& batch);  // src/entry/batch_format.h.

  [[nodiscard]] bool accepts(std::string_view key, std::string_view value);

  std::string entries_;  // In the form of src/entry/batch_format.h, so that writing a batch is one copy.
  std::size_t count_ = 0;
  Status status_;
};

/// One change of a batch, as views into it.
struct Batch::Operation {
  /// What the change does.
  enum class Kind : std::uint8_t {
    kPut,     ///< Sets the value of the key.
    kRemove,  ///< Removes the key.
  };
  Kind kind = Kind::kPut;  ///< What it does.
  std::string_view key;    ///< The key it is about.
  std::string_view value;  ///< The new value; empty for kRemove.

  /// Equal in kind, key and value.
  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A forward iterator whose elements are made as it goes.
class TAMIS_EXPORT Batch::Iterator {
 public:
  using iterator_concept = std::forward_iterator_tag;  ///< In the sense of C++20.
  using iterator_category = std::input_iterator_tag;   ///< In the older sense: elements are made, not referred to.
  using value_type = Operation;                        ///< One change.
  using difference_type = std::ptrdiff_t;              ///< Required of every iterator.
  using reference = Operation;                         ///< Made as it goes.
  using pointer = const Operation*;                    ///< Into the iterator.

  /// Of no batch.
  Iterator() = default;

  /// The change it stands on.
  Operation operator*() const { return operation_; }
  /// The same.
  const Operation* operator->() const { return &operation_; }
  /// To the next change.
  Iterator& operator++() {
    at_ = next_;
    load();
    return *this;
  }
  /// The same; returns where it stood.
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
  /// Whether both stand at the same place of one batch.
  friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

 private:
  friend class Batch;
  Iterator(const char* at, const char* end) : at_(at), end_(end) { load(); }
  void load();

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* next_ = nullptr;
  Operation operation_;
};

/// Exchanges changes and status.
inline void swap(Batch& a, Batch& b) noexcept { a.swap(b); }

}  // namespace tamis
