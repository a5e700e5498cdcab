#include "table/range_tombstones_format.h"

#include <fmt/core.h>

#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMinBytes = 3;  // Of one range delete.

Result<std::string_view> read_key(ByteReader& reader, std::string_view what) {
  TAMIS_TRY(const std::uint64_t bytes, reader.read_varint(what));
  if (bytes > kMaxKeyBytes) return reader.corruption(fmt::format("{} of {} bytes is longer than any key", what, bytes));
  TAMIS_TRY(const Bytes key, reader.read(static_cast<std::size_t>(bytes), what));
  return as_text(key);
}

Result<RangeTombstone> read_one(ByteReader& reader) {
  TAMIS_TRY(const std::string_view from, read_key(reader, "begin of a range delete"));
  TAMIS_TRY(const std::string_view to, read_key(reader, "end of a range delete"));
  TAMIS_TRY(const std::uint64_t sequence, reader.read_varint("sequence of a range delete"));
  if (!to.empty() && to <= from) return reader.corruption("a range delete that covers nothing");
  if (sequence == 0 || sequence >= number_of(kMaxSequence)) {
    return reader.corruption(fmt::format("a range delete with the sequence {}", sequence));
  }
  return range_tombstone_of({from, to, Sequence{sequence}, EntryKind::kRangeDelete});
}

bool is_in_order(const RangeTombstone& a, const RangeTombstone& b) {
  return a.range == b.range ? a.sequence > b.sequence : a.range.ends_before(b.range.from);
}

}  // namespace

std::string encode_range_tombstones(std::span<const RangeTombstone> fragments) {
  std::string to;
  append_varint(to, fragments.size());
  for (const RangeTombstone& fragment : fragments) {
    append_varint(to, fragment.range.from.size());
    to += fragment.range.from;
    append_varint(to, fragment.range.to ? fragment.range.to->size() : 0);
    if (fragment.range.to) to += *fragment.range.to;
    append_varint(to, number_of(fragment.sequence));
  }
  return to;
}

Result<std::vector<RangeTombstone>> decode_range_tombstones(Bytes bytes, std::string_view name, std::uint64_t offset) {
  const std::string where = fmt::format("{}: range deletes at offset {}", name, offset);
  ByteReader reader(bytes, where);
  TAMIS_TRY(const std::uint64_t count, reader.read_varint("number of range deletes"));
  if (count == 0 || count > reader.remaining() / kMinBytes) {
    return reader.corruption(fmt::format("{} range deletes in {} bytes", count, reader.remaining()));
  }
  std::vector<RangeTombstone> fragments;
  fragments.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    TAMIS_TRY(RangeTombstone next, read_one(reader));
    if (i > 0 && !is_in_order(fragments.back(), next)) return reader.corruption("range deletes are not in order");
    fragments.push_back(std::move(next));
  }
  TAMIS_TRY_STATUS(reader.expect_end());
  return fragments;
}

}  // namespace tamis
