// What the store sees and does of a Batch that its users do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "entry/entry.h"
#include "entry/expiry.h"
#include "entry/keyspace_id.h"
#include "tamis/batch.h"

namespace tamis {

/// The keyspaces of encoded entries.
struct EntryKeyspaces {
  KeyspaceId first = kDefaultKeyspace;  ///< Of the entries before the first marker.
  KeyspaceId last = kDefaultKeyspace;   ///< Of an entry that would be appended without a marker.
  bool has_markers = false;             ///< If not, all entries are of `first`.

  /// Whether all entries are of the default keyspace.
  [[nodiscard]] bool are_default() const { return first == kDefaultKeyspace && !has_markers; }

  friend bool operator==(const EntryKeyspaces&, const EntryKeyspaces&) = default;
};

/// A state of a batch, to which it can be cut back.
struct BatchMark {
  std::size_t bytes = 0;
  std::size_t count = 0;
  std::uint32_t first_keyspace = 0;
  std::uint32_t last_keyspace = 0;
  bool has_markers = false;
  bool has_long_keys = false;
  bool has_range_deletes = false;
  bool has_merges = false;
  std::uint64_t store = 0;
};

/// Access to the private members of Batch.
struct BatchInside {
  /// What Batch::put and Batch::remove do, for any keyspace. A delete has no value.
  static void add(Batch& batch, KeyspaceId keyspace, EntryKind kind, std::string_view key, std::string_view value) {
    batch.add_change(static_cast<std::uint32_t>(keyspace), static_cast<std::uint8_t>(kind), key, value);
  }
  /// The same for any kind that does not expire.
  static void add_any(Batch& batch, KeyspaceId keyspace, EntryKind kind, std::string_view key, std::string_view value);
  static void add_expiring(Batch& batch, KeyspaceId keyspace, std::string_view key, const ExpiringValue& value) {
    batch.add_expiring(static_cast<std::uint32_t>(keyspace), key, value.value, value.due);
  }
  /// An empty one that may name the same keyspaces.
  static Batch empty_like(const Batch& batch) {
    Batch empty;
    empty.store_ = batch.store_;
    return empty;
  }
  /// What Batch::remove_range does, for any keyspace.
  static void add_range_delete(Batch& batch, KeyspaceId keyspace, std::string_view from,
                               std::optional<std::string_view> to);
  /// What Batch::merge does, for any keyspace.
  static void add_merge(Batch& batch, KeyspaceId keyspace, std::string_view key, std::string_view operand);
  /// The encoded entries and markers (batch_format.h) without a header. Valid until the batch changes.
  static std::string_view entries(const Batch& batch) { return batch.entries_; }
  /// The number of the store that its keyspaces belong to; 0 if it names only the default one, which every store has.
  static std::uint64_t store(const Batch& batch) { return batch.store_; }
  /// Whether a key has more than kMaxNarrowKeyBytes.
  static bool has_long_keys(const Batch& batch) { return batch.has_long_keys_; }
  /// Whether a put expires.
  static bool has_expiry(const Batch& batch) { return batch.has_expiry_; }
  /// Whether a put says how long it lives, and not until when.
  static bool has_lifetimes(const Batch& batch) { return batch.has_lifetimes_; }
  static bool has_range_deletes(const Batch& batch) { return batch.has_range_deletes_; }
  static bool has_merges(const Batch& batch) { return batch.has_merges_; }
  static BatchMark mark(const Batch& batch) {
    return {batch.entries_.size(),    batch.count_,       batch.first_keyspace_,
            batch.last_keyspace_,     batch.has_markers_, batch.has_long_keys_,
            batch.has_range_deletes_, batch.has_merges_,  batch.store_};
  }
  /// Drops the changes since the mark, and the error.
  static void truncate(Batch& batch, const BatchMark& mark) {
    batch.entries_.resize(mark.bytes);
    batch.count_ = mark.count;
    batch.status_ = {};
    batch.first_keyspace_ = mark.first_keyspace;
    batch.last_keyspace_ = mark.last_keyspace;
    batch.has_markers_ = mark.has_markers;
    batch.has_long_keys_ = mark.has_long_keys;
    batch.has_range_deletes_ = mark.has_range_deletes;
    batch.has_merges_ = mark.has_merges;
    batch.store_ = mark.store;
  }
  static EntryKeyspaces keyspaces(const Batch& batch) {
    return {KeyspaceId{batch.first_keyspace_}, KeyspaceId{batch.last_keyspace_}, batch.has_markers_};
  }
};

}  // namespace tamis
