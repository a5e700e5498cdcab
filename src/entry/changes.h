// What one writer writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "entry/batch_format.h"
#include "entry/batch_inside.h"
#include "entry/entry.h"
#include "entry/keyspace_id.h"
#include "tamis/batch.h"
#include "tamis/status.h"

namespace tamis {

/// kInvalidArgument for a key or value that is too large.
Status check_sizes(std::string_view key, std::string_view value);

/// All changes of a batch, or a single change whose key and value stay in the caller's memory: nothing is copied before
/// it is encoded for the journal. What it refers to must outlive it.
///
/// Threads: constant.
class Changes {
 public:
  Changes() = default;
  Changes(const Batch& batch)  // NOLINT(google-explicit-constructor): a batch is changes.
      : batch_(&batch),
        keyspace_(BatchInside::keyspaces(batch).first),
        count_(batch.size()),
        byte_size_(batch.byte_size()) {}
  Changes(KeyspaceId keyspace, EntryKind kind, std::string_view key, std::string_view value)
      : key_(key),
        value_(value),
        kind_(kind),
        keyspace_(keyspace),
        count_(1),
        byte_size_(batch_header_bytes(keyspace, 1) + batch_entry_bytes(key.size(), value.size())) {}

  /// The batch's error, or the error a batch would give.
  [[nodiscard]] Status status() const { return batch_ != nullptr ? batch_->status() : check_sizes(key_, value_); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// As Batch::byte_size.
  [[nodiscard]] std::size_t byte_size() const { return byte_size_; }
  [[nodiscard]] KeyspaceId first_keyspace() const { return keyspace_; }
  /// Whether what holds these changes needs the feature "long keys" (rule 38).
  [[nodiscard]] bool has_long_keys() const {
    return batch_ != nullptr ? BatchInside::has_long_keys(*batch_) : key_.size() > kMaxNarrowKeyBytes;
  }

  /// The same for the feature "expiry". A single change outside of a batch does not expire.
  [[nodiscard]] bool has_expiry() const { return batch_ != nullptr && BatchInside::has_expiry(*batch_); }
  /// The same for "range deletes". A single change is none.
  [[nodiscard]] bool has_range_deletes() const { return batch_ != nullptr && BatchInside::has_range_deletes(*batch_); }

  /// The same for "merges". A single change is none.
  [[nodiscard]] bool has_merges() const { return batch_ != nullptr && BatchInside::has_merges(*batch_); }

  /// Whether it is a single change outside of a batch, and that change.
  [[nodiscard]] bool is_single() const { return batch_ == nullptr && count_ == 1; }
  [[nodiscard]] EncodedEntry single() const { return {kind_, key_, value_, nullptr}; }

  /// Calls `visit` with every keyspace that is written to, perhaps repeatedly.
  template <typename Visit>
  void visit_keyspaces(Visit visit) const {
    visit(keyspace_);
    if (batch_ == nullptr || !BatchInside::keyspaces(*batch_).has_markers) return;
    for (const Batch::Operation& change : *batch_) visit(KeyspaceId{change.keyspace_id});
  }

  /// Calls `visit` with the keyspace and the entry of every change, in order. Their views are the caller's.
  template <typename Visit>
  void visit(Visit visit) const {
    if (batch_ == nullptr) {
      if (count_ != 0) visit(keyspace_, single());
      return;
    }
    KeyspaceId keyspace = keyspace_;
    const std::string_view entries = BatchInside::entries(*batch_);
    for (const char* at = entries.data(); at != entries.data() + entries.size();) {
      const EncodedEntry entry = load_batch_entry(at, keyspace);
      visit(keyspace, entry);
      at = entry.end;
    }
  }

  /// Appends the encoded entries to those of `before`, after a marker where the keyspace changes.
  void append_to(std::string& to, EntryKeyspaces& before) const {
    if (count_ == 0) return;
    if (keyspace_ != before.last) [[unlikely]] {
      append_keyspace_marker(to, keyspace_, byte_size_);
      before = {before.first, keyspace_, true};
    }
    if (batch_ != nullptr) {
      const EntryKeyspaces keyspaces = BatchInside::keyspaces(*batch_);
      to.append(BatchInside::entries(*batch_));
      before.last = keyspaces.last;
      before.has_markers |= keyspaces.has_markers;
    } else {
      append_batch_entry(to, kind_, key_, value_);
    }
  }

 private:
  const Batch* batch_ = nullptr;
  std::string_view key_;
  std::string_view value_;
  EntryKind kind_ = EntryKind::kPut;
  KeyspaceId keyspace_ = kDefaultKeyspace;  // Of a batch: where it begins.
  std::size_t count_ = 0;
  std::size_t byte_size_ = 0;
};

}  // namespace tamis
