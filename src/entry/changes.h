// What one writer writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "entry/batch_format.h"
#include "entry/entry.h"
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
      : batch_(&batch), count_(batch.size()), entry_bytes_(encoded_entries(batch).size()) {}
  Changes(EntryKind kind, std::string_view key, std::string_view value)
      : key_(key), value_(value), kind_(kind), count_(1), entry_bytes_(batch_entry_bytes(key.size(), value.size())) {}

  /// The batch's error, or the error a batch would give.
  [[nodiscard]] Status status() const { return batch_ != nullptr ? batch_->status() : check_sizes(key_, value_); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t entry_bytes() const { return entry_bytes_; }
  /// As Batch::byte_size.
  [[nodiscard]] std::size_t byte_size() const { return batch_header_bytes(count_) + entry_bytes_; }

  /// Appends the encoded entries.
  void append_to(std::string& to) const {
    if (batch_ != nullptr) {
      to.append(encoded_entries(*batch_));
    } else if (count_ != 0) {
      append_batch_entry(to, kind_, key_, value_);
    }
  }

 private:
  const Batch* batch_ = nullptr;
  std::string_view key_;
  std::string_view value_;
  EntryKind kind_ = EntryKind::kPut;
  std::size_t count_ = 0;
  std::size_t entry_bytes_ = 0;
};

}  // namespace tamis
