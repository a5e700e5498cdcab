// The encoding of a batch: the payload of one write-ahead journal record. Documented with hex in docs/FORMAT.md; frozen
// by tests/golden/batches.
//
//     varint   the keyspace of the entries before the first marker
//     varint   count: the number of entries
//   then `count` times
//     1 byte   kind (entry_kind.h): 1 put, 2 delete, 3 merge operand, 4 range delete, 9 a put that expires; any other
//              is kNotSupported
//     varint   bytes of the key, at most 2^24
//     varint   bytes of the value, at most 2^30; 0 for a delete; 8 more if it expires (expiry.h)
//     –        the key, the value
//   and before an entry of another keyspace than the one before it a marker
//     1 byte   0
//     varint   the keyspace of the entries that follow
//
// The batch ends with its last entry. It holds no sequences: its record gives the first, and each entry's is one more
// than its predecessor's. So a Batch holds its entries in this form from the start, and a commit group is one header
// followed by the entries of its batches, with a marker between two that differ in keyspace. Checksums are the
// record's, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "entry/batch_inside.h"
#include "entry/entry.h"
#include "entry/expiry.h"
#include "entry/keyspace_id.h"
#include "tamis/status.h"

namespace tamis {

class Changes;  // entry/changes.h.

inline std::size_t batch_header_bytes(KeyspaceId first, std::uint64_t count) {
  return varint_bytes(static_cast<std::uint32_t>(first)) + varint_bytes(count);
}

std::size_t batch_entry_bytes(std::size_t key_bytes, std::size_t value_bytes);
/// Appends the whole entry or, if memory runs out, nothing. The views must not point into `to`, nor exceed the limits.
void append_batch_entry(std::string& to, EntryKind kind, std::string_view key, std::string_view value);

/// The same for a value that expires.
void append_expiring_entry(std::string& to, std::string_view key, const ExpiringValue& value);

/// Appends a marker, and reserves space for `bytes_after` more bytes.
void append_keyspace_marker(std::string& to, KeyspaceId keyspace, std::size_t bytes_after);

/// Appends several writers' changes as one batch, in this order: what a commit group writes. Sets `keyspaces` to those
/// of the batch: the header takes batch_header_bytes(first, count), and without markers every entry is of `first`.
void append_encoded(std::string& to, std::span<const Changes> group, EntryKeyspaces& keyspaces);

/// One entry in checked or self-encoded bytes; `end` is where the next begins.
struct EncodedEntry {
  EntryKind kind;
  std::string_view key;
  std::string_view value;
  const char* end;
};
/// For bytes without markers. Loads an entry, all but its sequence, and returns its end. It stores into the entry that
/// is used: a copy of what was just stored would wait for the stores, 5 ns of a put.
inline const char* load_batch_entry(const char* at, Entry& entry) {
  entry.kind = static_cast<EntryKind>(*at++);
  const auto key_bytes = static_cast<std::size_t>(load_varint(at));
  const auto value_bytes = static_cast<std::size_t>(load_varint(at));
  entry.key = {at, key_bytes};
  entry.value = {at + key_bytes, value_bytes};
  return at + key_bytes + value_bytes;
}
inline EncodedEntry load_batch_entry(const char* at) {
  Entry entry;
  const char* const end = load_batch_entry(at, entry);
  return {entry.kind, entry.key, entry.value, end};
}
/// For bytes with markers. `keyspace` is the one of the entry before; it becomes the one of this entry.
inline EncodedEntry load_batch_entry(const char* at, KeyspaceId& keyspace) {
  while (*at == 0) [[unlikely]] {
      ++at;
      keyspace = static_cast<KeyspaceId>(load_varint(at));
    }
  return load_batch_entry(at);
}

/// A batch read from untrusted bytes: checked whole before the first entry is returned, because a batch is applied
/// atomically. Copies nothing.
///
///     TAMIS_TRY(const BatchView batch, BatchView::decode(payload, record.first_sequence, "000012.journal"));
///     for (auto it = batch.begin(); it != batch.end(); ++it) memtable_of(it.keyspace()).insert(*it);
///
/// Invariants:
///  1. Every length lies inside the bytes, every kind is known, keys and values respect the limits, deletes have no
///     value. Whether a keyspace exists is not checked.
///  2. Entry i has the sequence first() + i, and the last one is below kMaxSequence.
///
/// Threads: constant after construction. The bytes must outlive it.
class BatchView {
 public:
  class Iterator;

  /// `name` is used in error messages.
  static Result<BatchView> decode(Bytes payload, Sequence first, std::string_view name);

  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] Sequence first() const { return first_; }
  [[nodiscard]] const EntryKeyspaces& keyspaces() const { return keyspaces_; }
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  BatchView(std::string_view entries, std::uint64_t count, Sequence first, EntryKeyspaces keyspaces)
      : entries_(entries), count_(count), first_(first), keyspaces_(keyspaces) {}

  std::string_view entries_;
  std::uint64_t count_;
  Sequence first_;
  EntryKeyspaces keyspaces_;
};

/// A single pass over the entries; moving replaces what it shows.
class BatchView::Iterator {
 public:
  using value_type = Entry;
  using difference_type = std::ptrdiff_t;

  Iterator(std::string_view entries, Sequence first, KeyspaceId keyspace)
      : next_(entries.data()), end_(next_ + entries.size()), keyspace_(keyspace) {
    entry_.sequence = first;
    load();
  }

  const Entry& operator*() const { return entry_; }
  const Entry* operator->() const { return &entry_; }
  [[nodiscard]] KeyspaceId keyspace() const { return keyspace_; }
  Iterator& operator++() {
    entry_.sequence = entry_.sequence + 1;
    load();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.at_end_; }

 private:
  void load() {
    at_end_ = next_ == end_;
    if (at_end_) return;
    const EncodedEntry loaded = load_batch_entry(next_, keyspace_);
    entry_.key = loaded.key;
    entry_.value = loaded.value;
    entry_.kind = loaded.kind;
    next_ = loaded.end;
  }

  const char* next_;
  const char* end_;
  KeyspaceId keyspace_;
  bool at_end_ = false;
  Entry entry_;
};

inline BatchView::Iterator BatchView::begin() const { return {entries_, first_, keyspaces_.first}; }

}  // namespace tamis
