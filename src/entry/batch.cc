#include "tamis/batch.h"

#include <fmt/core.h>

#include "entry/batch_format.h"
#include "entry/changes.h"

namespace tamis {

static_assert(Batch::kMaxKeyBytes == kMaxKeyBytes && Batch::kMaxValueBytes == kMaxValueBytes);

void Batch::put(std::string_view key, std::string_view value) {
  if (!accepts(key, value)) return;
  append_batch_entry(entries_, EntryKind::kPut, key, value);
  ++count_;
}

void Batch::remove(std::string_view key) {
  if (!accepts(key, {})) return;
  append_batch_entry(entries_, EntryKind::kDelete, key, {});
  ++count_;
}

void Batch::append(const Batch& other) {
  if (!status_.ok()) return;
  if (!other.status_.ok()) {
    status_ = other.status_;
    return;
  }
  entries_.append(other.entries_);
  count_ += other.count_;
}

void Batch::clear() {
  entries_.clear();
  count_ = 0;
  status_ = {};
}

void Batch::swap(Batch& other) noexcept {
  std::swap(entries_, other.entries_);
  std::swap(count_, other.count_);
  std::swap(status_, other.status_);
}

bool Batch::accepts(std::string_view key, std::string_view value) {
  if (!status_.ok()) return false;
  status_ = check_sizes(key, value);
  if (!status_.ok() && count_ > 0) {
    status_ = Status::invalid_argument(fmt::format("{} (change {} of the batch)", status_.message(), count_ + 1));
  }
  return status_.ok();
}

Status check_sizes(std::string_view key, std::string_view value) {
  const auto refused = [](std::string_view what, std::size_t bytes, std::uint64_t most) {
    return Status::invalid_argument(fmt::format("the {} has {} bytes; the max is {}", what, bytes, most));
  };
  if (key.size() > kMaxKeyBytes) return refused("key", key.size(), kMaxKeyBytes);
  if (value.size() > kMaxValueBytes) return refused("value", value.size(), kMaxValueBytes);
  return {};
}

std::size_t Batch::byte_size() const { return batch_header_bytes(count_) + entries_.size(); }

Batch::Iterator Batch::begin() const { return {entries_.data(), entries_.data() + entries_.size()}; }

Batch::Iterator Batch::end() const {
  const char* end = entries_.data() + entries_.size();
  return {end, end};
}

void Batch::Iterator::load() {
  if (at_ == end_) return;
  const EncodedEntry entry = load_batch_entry(at_);
  switch (entry.kind) {
    case EntryKind::kPut: operation_ = {Operation::Kind::kPut, entry.key, entry.value}; break;
    case EntryKind::kDelete: operation_ = {Operation::Kind::kRemove, entry.key, {}}; break;
  }
  next_ = entry.end;
}

std::string_view encoded_entries(const Batch& batch) { return batch.entries_; }

}  // namespace tamis
