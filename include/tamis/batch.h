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
  static constexpr std::size_t kMaxKeyBytes = 65'535;
  static constexpr std::uint64_t kMaxValueBytes = 0xfffe'0000;  ///< 2^32 - 2^17.

  struct Operation;
  class Iterator;
  using iterator = Iterator;
  using const_iterator = Iterator;

  Batch() = default;
  Batch(const Batch&) = default;
  Batch& operator=(const Batch&) = default;
  /// The batch moved from is empty and usable.
  Batch(Batch&& other) noexcept { swap(other); }
  Batch& operator=(Batch&& other) noexcept {
    Batch taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~Batch() = default;

  /// Refuses, through status(), a key of more than kMaxKeyBytes or a value of more than kMaxValueBytes. The views must
  /// not point into this batch.
  void put(std::string_view key, std::string_view value);
  /// Removing a key that is not there is no error.
  void remove(std::string_view key);
  /// Adds the changes of another batch behind these, or takes over its refusal. A batch may be appended to itself.
  void append(const Batch& other);
  /// Forgets the changes and the refusal; keeps the memory.
  void clear();
  void swap(Batch& other) noexcept;

  /// ok, or the first refusal.
  [[nodiscard]] const Status& status() const { return status_; }

  /// The number of changes.
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// The bytes the changes take in the journal: their keys and values and a few bytes each.
  [[nodiscard]] std::size_t byte_size() const;

  /// In the order in which they were added. Iterators and what they show live until the batch is changed.
  ///
  ///     for (const tamis::Batch::Operation& op : batch) use(op.kind, op.key, op.value);
  [[nodiscard]] Iterator begin() const;
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
  enum class Kind : std::uint8_t { kPut, kRemove };
  Kind kind = Kind::kPut;
  std::string_view key;
  std::string_view value;  ///< Empty for kRemove.

  friend bool operator==(const Operation&, const Operation&) = default;
};

/// A forward iterator whose elements are made as it goes.
class TAMIS_EXPORT Batch::Iterator {
 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = Operation;
  using difference_type = std::ptrdiff_t;
  using reference = Operation;
  using pointer = const Operation*;

  Iterator() = default;

  Operation operator*() const { return operation_; }
  const Operation* operator->() const { return &operation_; }
  Iterator& operator++() {
    at_ = next_;
    load();
    return *this;
  }
  Iterator operator++(int) {
    Iterator before = *this;
    ++*this;
    return before;
  }
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

inline void swap(Batch& a, Batch& b) noexcept { a.swap(b); }

}  // namespace tamis
