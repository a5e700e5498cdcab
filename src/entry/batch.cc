#include "tamis/batch.h"

#include <fmt/core.h>

#include "entry/batch_format.h"
#include "entry/changes.h"

namespace tamis {

static_assert(Batch::kMaxKeyBytes == kMaxKeyBytes && Batch::kMaxValueBytes == kMaxValueBytes);

void Batch::put(std::string_view key, std::string_view value) {
  BatchInside::add(*this, kDefaultKeyspace, EntryKind::kPut, key, value);
}

void Batch::remove(std::string_view key) { BatchInside::add(*this, kDefaultKeyspace, EntryKind::kDelete, key, {}); }

void Batch::remove_range(std::string_view from, std::optional<std::string_view> to) {
  BatchInside::add_range_delete(*this, kDefaultKeyspace, from, to);
}

void Batch::merge(std::string_view key, std::string_view operand) {
  BatchInside::add_merge(*this, kDefaultKeyspace, key, operand);
}

void BatchInside::add_merge(Batch& batch, KeyspaceId keyspace, std::string_view key, std::string_view operand) {
  add_any(batch, keyspace, EntryKind::kMerge, key, operand);
}

void BatchInside::add_any(Batch& batch, KeyspaceId keyspace, EntryKind kind, std::string_view key,
                          std::string_view value) {
  add(batch, keyspace, kind, key, value);
  if (!batch.status_.ok()) return;
  batch.has_range_deletes_ |= kind == EntryKind::kRangeDelete;
  batch.has_merges_ |= kind == EntryKind::kMerge;
}

void BatchInside::add_range_delete(Batch& batch, KeyspaceId keyspace, std::string_view from,
                                   std::optional<std::string_view> to) {
  if (to && *to <= from) return;
  if (to && !batch.accepts(*to, {})) return;
  add_any(batch, keyspace, EntryKind::kRangeDelete, from, to.value_or(std::string_view()));
}

void Batch::add_change(std::uint32_t keyspace, std::uint8_t kind, std::string_view key, std::string_view value) {
  if (!accepts(key, value)) return;
  if (keyspace != last_keyspace_) enter(keyspace, batch_entry_bytes(key.size(), value.size()));
  append_batch_entry(entries_, static_cast<EntryKind>(kind), key, value);
  has_long_keys_ |= key.size() > kMaxNarrowKeyBytes;
  ++count_;
}

void Batch::put(std::string_view key, std::string_view value, std::chrono::milliseconds expires_in) {
  add_put(0, key, value, expires_in);
}

void Batch::put(std::string_view key, std::string_view value, std::chrono::system_clock::time_point expires_at) {
  add_put(0, key, value, expires_at);
}

void Batch::add_put(std::uint32_t keyspace, std::string_view key, std::string_view value,
                    std::chrono::milliseconds expires_in) {
  if (expires_in.count() < 0 && status_.ok()) {
    status_ =
        Status::invalid_argument(fmt::format("a value cannot expire {} ms before it is put", -expires_in.count()));
  }
  if (expires_in.count() == 0) return add_change(keyspace, static_cast<std::uint8_t>(EntryKind::kPut), key, value);
  add_expiring(keyspace, key, value, encoded_lifetime(expires_in));
}

void Batch::add_put(std::uint32_t keyspace, std::string_view key, std::string_view value,
                    std::chrono::system_clock::time_point expires_at) {
  const auto due = std::chrono::ceil<std::chrono::milliseconds>(expires_at.time_since_epoch()).count();
  add_expiring(keyspace, key, value, due < 0 ? 0 : static_cast<std::uint64_t>(due));
}

void Batch::add_expiring(std::uint32_t keyspace, std::string_view key, std::string_view value, std::uint64_t due) {
  if (!accepts(key, value)) return;
  if (keyspace != last_keyspace_) enter(keyspace, batch_entry_bytes(key.size(), kDueBytes + value.size()));
  append_expiring_entry(entries_, key, {due, value});
  has_long_keys_ |= key.size() > kMaxNarrowKeyBytes;
  has_expiry_ = true;
  has_lifetimes_ |= is_lifetime(due);
  ++count_;
}

/// The next `bytes` of entries belong to another keyspace than the last ones. Reserves space for them, so that a batch
/// never ends with a marker.
void Batch::enter(std::uint32_t keyspace, std::size_t bytes) {
  if (count_ == 0) {
    first_keyspace_ = keyspace;
  } else {
    append_keyspace_marker(entries_, KeyspaceId{keyspace}, bytes);
    has_markers_ = true;
  }
  last_keyspace_ = keyspace;
}

void Batch::append(const Batch& other) {
  if (!status_.ok()) return;
  if (!other.status_.ok()) {
    status_ = other.status_;
    return;
  }
  if (other.empty()) return;
  belong_to(other.store_);
  if (!status_.ok()) return;
  const std::uint32_t last = other.last_keyspace_;  // This may be the other batch.
  const std::size_t bytes = other.entries_.size();
  if (other.first_keyspace_ != last_keyspace_) enter(other.first_keyspace_, bytes);
  entries_.append(other.entries_, 0, bytes);
  last_keyspace_ = last;
  has_markers_ |= other.has_markers_;
  has_long_keys_ |= other.has_long_keys_;
  has_expiry_ |= other.has_expiry_;
  has_lifetimes_ |= other.has_lifetimes_;
  has_range_deletes_ |= other.has_range_deletes_;
  has_merges_ |= other.has_merges_;
  count_ += other.count_;
}

void Batch::clear() {
  entries_.clear();
  count_ = 0;
  status_ = {};
  first_keyspace_ = last_keyspace_ = 0;
  has_markers_ = has_long_keys_ = has_range_deletes_ = has_merges_ = has_expiry_ = has_lifetimes_ = false;
  store_ = 0;
}

void Batch::belong_to(std::uint64_t store) {
  if (store_ == 0) store_ = store;
  if (store != 0 && store != store_ && status_.ok()) {
    status_ = Status::invalid_argument("the keyspaces of a batch must belong to one store");
  }
}

void Batch::swap(Batch& other) noexcept {
  std::swap(entries_, other.entries_);
  std::swap(count_, other.count_);
  std::swap(status_, other.status_);
  std::swap(first_keyspace_, other.first_keyspace_);
  std::swap(last_keyspace_, other.last_keyspace_);
  std::swap(has_markers_, other.has_markers_);
  std::swap(store_, other.store_);
  std::swap(has_long_keys_, other.has_long_keys_);
  std::swap(has_expiry_, other.has_expiry_);
  std::swap(has_lifetimes_, other.has_lifetimes_);
  std::swap(has_range_deletes_, other.has_range_deletes_);
  std::swap(has_merges_, other.has_merges_);
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

std::size_t Batch::byte_size() const {
  return batch_header_bytes(KeyspaceId{first_keyspace_}, count_) + entries_.size();
}

Batch::Iterator Batch::begin() const { return {entries_.data(), entries_.data() + entries_.size(), first_keyspace_}; }

Batch::Iterator Batch::end() const {
  const char* end = entries_.data() + entries_.size();
  return {end, end, last_keyspace_};
}

Batch::Iterator::Iterator(const char* at, const char* end, std::uint32_t keyspace) : at_(at), end_(end) {
  operation_.keyspace_id = keyspace;
  load();
}

void Batch::Iterator::load_expiry(std::string_view stored) {
  const ExpiringValue expiring = load_expiring(stored);
  operation_.value = expiring.value;
  if (expiring.due == kNeverDue) {
    operation_.expires_in = kNeverExpires;
  } else if (is_lifetime(expiring.due)) {
    operation_.expires_in = std::chrono::milliseconds(lifetime_in(expiring.due));
  } else {
    operation_.expires_at = ExpiryTime(std::chrono::milliseconds(expiring.due));
  }
}

void Batch::Iterator::load() {
  if (at_ == end_) return;
  KeyspaceId keyspace{operation_.keyspace_id};
  const EncodedEntry entry = load_batch_entry(at_, keyspace);
  operation_.kind = entry.kind == EntryKind::kDelete        ? Operation::Kind::kRemove
                    : entry.kind == EntryKind::kRangeDelete ? Operation::Kind::kRemoveRange
                    : entry.kind == EntryKind::kMerge       ? Operation::Kind::kMerge
                                                            : Operation::Kind::kPut;
  operation_.key = entry.key;
  operation_.value = entry.value;
  operation_.expires_in = {};
  operation_.expires_at.reset();
  if (entry.kind == EntryKind::kExpiringPut) load_expiry(entry.value);
  operation_.keyspace_id = static_cast<std::uint32_t>(keyspace);
  next_ = entry.end;
}

}  // namespace tamis
