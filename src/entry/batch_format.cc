#include "entry/batch_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"
#include "base/try.h"
#include "entry/changes.h"

namespace tamis {
namespace {

constexpr std::uint8_t kKeyspaceMarker = 0;  // In place of a kind.
constexpr std::size_t kMinEntryBytes = 3;

/// Reserves space so that appending cannot fail half-way; grows by doubling, like a string.
void make_room(std::string& to, std::size_t bytes) {
  if (to.capacity() - to.size() < bytes) to.reserve(std::max(to.size() + bytes, 2 * to.capacity()));
}

/// The lengths and kinds before the data, assembled and then appended at once.
class Prefix {
 public:
  void add_byte(std::uint8_t byte) { bytes_[size_++] = static_cast<char>(byte); }
  void add_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_[size_++] = static_cast<char>(number | 0x80);
    bytes_[size_++] = static_cast<char>(number);
  }
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, 48> bytes_;  // Four varints and a kind take at most 41.
  std::size_t size_ = 0;
};

Result<KeyspaceId> read_keyspace(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t number, reader.read_varint("keyspace"));
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    return reader.corruption(fmt::format("keyspace {}; keyspaces have 32 bits", number));
  }
  return static_cast<KeyspaceId>(number);
}

/// Reads the markers before an entry, too.
/// Appends what the prefix already has and the entry. There must be room for both.
void append_entry(std::string& to, Prefix& prefix, const EncodedEntry& entry) {
  TAMIS_INVARIANT(entry.key.size() <= kMaxKeyBytes && entry.value.size() <= max_stored_bytes(entry.kind));
  TAMIS_INVARIANT(entry.kind != EntryKind::kDelete || entry.value.empty());
  prefix.add_byte(static_cast<std::uint8_t>(entry.kind));
  prefix.add_varint(entry.key.size());
  prefix.add_varint(entry.value.size());
  to.append(prefix.text());
  to.append(entry.key);
  to.append(entry.value);
}

Status check_entry(ByteReader& reader, EntryKeyspaces& keyspaces, std::string_view name) {
  TAMIS_TRY(auto kind, reader.read_le<std::uint8_t>("entry kind"));
  for (; kind == kKeyspaceMarker; keyspaces.has_markers = true) {
    TAMIS_TRY(keyspaces.last, read_keyspace(reader));
    TAMIS_TRY(kind, reader.read_le<std::uint8_t>("entry kind"));
  }
  if (!is_batch_kind(kind)) {
    return Status::not_supported(fmt::format("{}: at offset {}: {}", name, reader.offset(), unknown_kind_text(kind)));
  }
  TAMIS_TRY(const std::uint64_t key_bytes, reader.read_varint("key length"));
  if (key_bytes > kMaxKeyBytes) {
    return reader.corruption(fmt::format("a key of {} bytes, {} allowed", key_bytes, kMaxKeyBytes));
  }
  TAMIS_TRY(const std::uint64_t value_bytes, reader.read_varint("value length"));
  const std::uint64_t max_bytes = max_stored_bytes(static_cast<EntryKind>(kind));
  if (value_bytes > max_bytes) {
    return reader.corruption(fmt::format("a value of {} bytes, {} allowed", value_bytes, max_bytes));
  }
  if (static_cast<EntryKind>(kind) == EntryKind::kDelete && value_bytes != 0) {
    return reader.corruption(fmt::format("a delete with a value of {} bytes", value_bytes));
  }
  TAMIS_TRY(const Bytes key, reader.read(key_bytes, "key"));
  TAMIS_TRY(const Bytes value, reader.read(value_bytes, "value"));
  if (static_cast<EntryKind>(kind) == EntryKind::kExpiringPut && !is_expiring(as_text(value))) {
    return reader.corruption("a value that expires without a valid time");
  }
  if (static_cast<EntryKind>(kind) != EntryKind::kRangeDelete || value.empty()) return {};
  if (value_bytes > kMaxKeyBytes) {
    return reader.corruption(fmt::format("a range delete to a key of {} bytes, {} allowed", value_bytes, kMaxKeyBytes));
  }
  if (as_text(value) <= as_text(key)) return reader.corruption("a range delete of an empty range");
  return {};
}

}  // namespace

std::size_t batch_entry_bytes(std::size_t key_bytes, std::size_t value_bytes) {
  return 1 + varint_bytes(key_bytes) + varint_bytes(value_bytes) + key_bytes + value_bytes;
}

void append_batch_entry(std::string& to, EntryKind kind, std::string_view key, std::string_view value) {
  make_room(to, batch_entry_bytes(key.size(), value.size()));
  Prefix prefix;
  append_entry(to, prefix, {kind, key, value, nullptr});
}

void append_expiring_entry(std::string& to, std::string_view key, const ExpiringValue& value) {
  const std::size_t stored_bytes = kDueBytes + value.value.size();
  make_room(to, batch_entry_bytes(key.size(), stored_bytes));
  Prefix prefix;
  prefix.add_byte(static_cast<std::uint8_t>(EntryKind::kExpiringPut));
  prefix.add_varint(key.size());
  prefix.add_varint(stored_bytes);
  to.append(prefix.text());
  to.append(key);
  append_expiring(to, value);
}

void append_keyspace_marker(std::string& to, KeyspaceId keyspace, std::size_t bytes_after) {
  Prefix prefix;
  prefix.add_byte(kKeyspaceMarker);
  prefix.add_varint(static_cast<std::uint32_t>(keyspace));
  make_room(to, prefix.text().size() + bytes_after);
  to.append(prefix.text());
}

void append_encoded(std::string& to, std::span<const Changes> group, EntryKeyspaces& keyspaces) {
  Prefix header;
  if (group.size() == 1 && group.front().is_single()) {
    const KeyspaceId keyspace = group.front().first_keyspace();
    make_room(to, group.front().byte_size());
    header.add_varint(static_cast<std::uint32_t>(keyspace));
    header.add_varint(1);
    append_entry(to, header, group.front().single());
    keyspaces = {keyspace, keyspace, false};
    return;
  }
  keyspaces = {};
  if (!group.empty()) keyspaces.first = keyspaces.last = group.front().first_keyspace();
  std::uint64_t count = 0;
  std::size_t bytes = kMaxVarintBytes;  // The common count; a marker is not longer than the header of its changes.
  for (const Changes& changes : group) {
    count += changes.size();
    bytes += changes.byte_size();
  }
  make_room(to, bytes);
  header.add_varint(static_cast<std::uint32_t>(keyspaces.first));
  header.add_varint(count);
  to.append(header.text());
  for (const Changes& changes : group) changes.append_to(to, keyspaces);
}

Result<BatchView> BatchView::decode(Bytes payload, Sequence first, std::string_view name) {
  ByteReader reader(payload, name);
  EntryKeyspaces keyspaces;
  TAMIS_TRY(keyspaces.first, read_keyspace(reader));
  keyspaces.last = keyspaces.first;
  TAMIS_TRY(const std::uint64_t count, reader.read_varint("entry count"));
  if (count > reader.remaining() / kMinEntryBytes) {
    return reader.corruption(fmt::format("{} entries do not fit into {} bytes", count, reader.remaining()));
  }
  if (count > number_of(kMaxSequence) - number_of(first)) {
    return reader.corruption(fmt::format("{} entries from sequence {} on", count, number_of(first)));
  }
  const std::string_view entries = as_text(payload.subspan(reader.offset()));
  for (std::uint64_t i = 0; i < count; ++i) TAMIS_TRY_STATUS(check_entry(reader, keyspaces, name));
  TAMIS_TRY_STATUS(reader.expect_end());
  return BatchView(entries, count, first, keyspaces);
}

}  // namespace tamis
