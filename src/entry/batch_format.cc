#include "entry/batch_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/try.h"
#include "entry/changes.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeyspace = 0;  // The only one so far.
constexpr std::size_t kMinEntryBytes = 3;

/// Reserves space so that appending cannot fail half-way; grows by doubling, like a string.
void make_room(std::string& to, std::size_t bytes) {
  if (to.capacity() - to.size() < bytes) to.reserve(std::max(to.size() + bytes, 2 * to.capacity()));
}

/// The lengths and kinds before the data, assembled and then appended at once.
class Prefix {
 public:
  void add(EntryKind kind) { bytes_[size_++] = static_cast<char>(kind); }
  void add_varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) bytes_[size_++] = static_cast<char>(number | 0x80);
    bytes_[size_++] = static_cast<char>(number);
  }
  [[nodiscard]] std::string_view text() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, 24> bytes_;  // Two varints and a kind take at most 21.
  std::size_t size_ = 0;
};

Prefix header_of(std::uint64_t count) {
  Prefix prefix;
  prefix.add_varint(kKeyspace);
  prefix.add_varint(count);
  return prefix;
}

Status check_entry(ByteReader& reader) {
  TAMIS_TRY(const auto kind, reader.read_le<std::uint8_t>("entry kind"));
  if (!is_entry_kind(kind)) return reader.corruption(fmt::format("entry kind {} is not known to this build", kind));
  TAMIS_TRY(const std::uint64_t key_bytes, reader.read_varint("key length"));
  if (key_bytes > kMaxKeyBytes) {
    return reader.corruption(fmt::format("a key of {} bytes, {} allowed", key_bytes, kMaxKeyBytes));
  }
  TAMIS_TRY(const std::uint64_t value_bytes, reader.read_varint("value length"));
  if (value_bytes > kMaxValueBytes) {
    return reader.corruption(fmt::format("a value of {} bytes, {} allowed", value_bytes, kMaxValueBytes));
  }
  if (static_cast<EntryKind>(kind) == EntryKind::kDelete && value_bytes != 0) {
    return reader.corruption(fmt::format("a delete with a value of {} bytes", value_bytes));
  }
  TAMIS_TRY_STATUS(reader.skip(key_bytes, "key"));
  return reader.skip(value_bytes, "value");
}

std::uint64_t total_count(std::span<const Changes> group) {
  std::uint64_t count = 0;
  for (const Changes& changes : group) count += changes.size();
  return count;
}

}  // namespace

std::size_t batch_header_bytes(std::uint64_t count) { return varint_bytes(kKeyspace) + varint_bytes(count); }

void append_batch_header(std::string& to, std::uint64_t count) { to.append(header_of(count).text()); }

std::size_t batch_entry_bytes(std::size_t key_bytes, std::size_t value_bytes) {
  return 1 + varint_bytes(key_bytes) + varint_bytes(value_bytes) + key_bytes + value_bytes;
}

void append_batch_entry(std::string& to, EntryKind kind, std::string_view key, std::string_view value) {
  TAMIS_INVARIANT(key.size() <= kMaxKeyBytes && value.size() <= kMaxValueBytes);
  TAMIS_INVARIANT(kind == EntryKind::kPut || value.empty());
  Prefix prefix;
  prefix.add(kind);
  prefix.add_varint(key.size());
  prefix.add_varint(value.size());
  make_room(to, prefix.text().size() + key.size() + value.size());
  to.append(prefix.text());
  to.append(key);
  to.append(value);
}

std::size_t encoded_bytes(std::span<const Changes> group) {
  std::size_t bytes = batch_header_bytes(total_count(group));
  for (const Changes& changes : group) bytes += changes.entry_bytes();
  return bytes;
}

void append_encoded(std::string& to, std::span<const Changes> group) {
  make_room(to, encoded_bytes(group));
  append_batch_header(to, total_count(group));
  for (const Changes& changes : group) changes.append_to(to);
}

Result<BatchView> BatchView::decode(Bytes payload, Sequence first, std::string_view name) {
  ByteReader reader(payload, name);
  TAMIS_TRY(const std::uint64_t keyspace, reader.read_varint("keyspace"));
  if (keyspace != kKeyspace) return reader.corruption(fmt::format("keyspace {} is not known to this build", keyspace));
  TAMIS_TRY(const std::uint64_t count, reader.read_varint("entry count"));
  if (count > reader.remaining() / kMinEntryBytes) {
    return reader.corruption(fmt::format("{} entries do not fit into {} bytes", count, reader.remaining()));
  }
  if (count > number_of(kMaxSequence) - number_of(first)) {
    return reader.corruption(fmt::format("{} entries from sequence {} on", count, number_of(first)));
  }
  const std::string_view entries = as_text(payload.subspan(reader.offset()));
  for (std::uint64_t i = 0; i < count; ++i) TAMIS_TRY_STATUS(check_entry(reader));
  TAMIS_TRY_STATUS(reader.expect_end());
  return BatchView(entries, count, first);
}

}  // namespace tamis
