// Builds the bytes of an index; index_format.cc decodes them.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "entry/entry.h"
#include "table/index_format.h"

namespace tamis {
namespace {

constexpr std::size_t kHeadBytes = kIndexHeadBytes;

/// The prefix of `key` that distinguishes it from `other`; longer if it would end in a zero, which a head cannot tell
/// from padding.
std::string_view shortest_separator(std::string_view other, std::string_view key) {
  std::size_t bytes = std::min(common_prefix(other, key) + 1, key.size());
  while (bytes < key.size() && key[bytes - 1] == '\0') ++bytes;
  return key.substr(0, bytes);
}

/// Whether the head alone determines a separator's bytes after the prefix.
bool is_its_head(std::string_view suffix) {
  return suffix.size() <= kHeadBytes && (suffix.empty() || suffix.back() != '\0');
}

}  // namespace

void IndexBuilder::add(std::string_view last_key_before, std::string_view first_key, std::string_view second_key,
                       BlockPosition position) {
  if (blocks_.empty()) {
    first_is_whole_ = second_key.empty();
    const std::string_view separator = first_is_whole_ ? first_key : shortest_separator(second_key, first_key);
    blocks_.push_back({std::string(separator), position, false});
    return;
  }
  TAMIS_CHECK(position.offset == blocks_.back().position.offset + blocks_.back().position.bytes);
  TAMIS_INVARIANT(last_key_before <= first_key);
  const bool continues = last_key_before == first_key;
  if (first_is_whole_ && blocks_.size() == 1 && !continues) {
    blocks_[0].separator = shortest_separator(first_key, blocks_[0].separator);
  }
  const std::string_view separator = continues ? first_key : shortest_separator(last_key_before, first_key);
  blocks_.push_back({std::string(separator), position, continues});
}

std::size_t IndexBuilder::estimated_bytes() const {
  constexpr std::size_t kPartBytes = kIndexHeaderBytes + kIndexRowBytes + kIndexChecksumBytes;
  constexpr std::size_t kBlockBytes = kHeadBytes + 4;
  const std::size_t parts = (blocks_.size() + kIndexGroupBlocks - 1) / kIndexGroupBlocks;
  return parts * (kPartBytes + kBlockBytes) + blocks_.size() * kBlockBytes;
}

IndexSection IndexBuilder::finish(std::uint64_t checksum_seed) const {
  TAMIS_CHECK(!blocks_.empty());
  const std::vector<Group> all = groups();
  // Blocks so large that a group ends early are few.
  const bool has_full_groups = all.size() == (blocks_.size() + kIndexGroupBlocks - 1) / kIndexGroupBlocks;
  if (all.size() == 1 || !has_full_groups) return {finish_part(checksum_seed), 0};
  IndexSection section;
  IndexBuilder top;
  for (const Group& group : all) {
    IndexBuilder part;
    part.blocks_.assign(blocks_.begin() + static_cast<std::ptrdiff_t>(group.begin),
                        blocks_.begin() + static_cast<std::ptrdiff_t>(group.end));
    const std::uint64_t begin = section.bytes.size();
    Block& first = part.blocks_.front();
    top.blocks_.push_back({first.separator, {begin, 0}, first.continues});
    first.continues = false;
    section.bytes += part.finish_part(checksum_seed + begin);
    top.blocks_.back().position.bytes = static_cast<std::uint32_t>(section.bytes.size() - begin);
  }
  const std::string bytes = top.finish_part(checksum_seed + section.bytes.size());
  TAMIS_CHECK(bytes.size() <= std::numeric_limits<std::uint32_t>::max());
  section.bytes += bytes;
  section.top_bytes = static_cast<std::uint32_t>(bytes.size());
  return section;
}

std::string IndexBuilder::finish_part(std::uint64_t checksum_seed) const {
  const std::vector<Group> all = groups();
  const std::size_t first_body = kIndexHeaderBytes + kIndexRowBytes * all.size();
  std::string rows;
  std::string bodies;
  for (const Group& group : all) {
    append_row(rows, group, first_body + bodies.size());
    append_body(bodies, group);
  }
  std::string part;
  append_le(part, std::uint32_t{1});
  append_le(part, static_cast<std::uint32_t>(all.size()));
  append_le(part, static_cast<std::uint32_t>(blocks_.size()));
  append_le(part, std::uint32_t{0});
  part += rows;
  part += bodies;
  append_le(part, seeded_checksum64(as_bytes(part), checksum_seed));
  return part;
}

std::vector<IndexBuilder::Group> IndexBuilder::groups() const {
  std::vector<Group> all;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const std::uint32_t size = blocks_[i].position.bytes;
    if (all.empty() || i - all.back().begin == kIndexGroupBlocks || bytes + size > kMaxIndexGroupBytes) {
      all.push_back({i, i});
      bytes = 0;
    }
    all.back().end = i + 1;
    bytes += size;
  }
  return all;
}

void IndexBuilder::append_row(std::string& to, const Group& group, std::size_t body_offset) const {
  TAMIS_CHECK(body_offset <= std::numeric_limits<std::uint32_t>::max());
  append_le(to, blocks_[group.begin].position.offset);
  append_le(to, static_cast<std::uint32_t>(body_offset));
  append_le(to, static_cast<std::uint16_t>(group.end - group.begin));
  const std::size_t shared = shared_bytes(group);
  append_le(to, static_cast<std::uint16_t>(shared));
  const int flags = (needs_lengths(group) ? kIndexHasLengths : 0) |
                    (has_continuations(group) ? kIndexHasContinuations : 0) | (is_wide(group) ? kIndexIsWide : 0);
  append_le(to, static_cast<std::uint64_t>(flags) | static_cast<std::uint64_t>(shared >> 16) << kIndexPrefixHighHalf);
}

void IndexBuilder::append_body(std::string& to, const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  const auto suffix = [&](std::size_t i) { return std::string_view(blocks_[i].separator).substr(shared); };
  for (std::size_t i = group.begin; i < group.end; ++i) append_be(to, key_head(suffix(i)));
  for (std::size_t i = group.begin; i < group.end; ++i) append_le(to, blocks_[i].position.bytes);
  if (has_continuations(group)) {
    std::string bits(kIndexContinuationBytes, '\0');
    for (std::size_t i = 0; i < group.end - group.begin; ++i) {
      if (blocks_[group.begin + i].continues) bits[i / 8] = static_cast<char>(bits[i / 8] | 1 << (i % 8));
    }
    to += bits;
  }
  const bool with_lengths = needs_lengths(group);
  const bool wide = is_wide(group);
  for (std::size_t i = group.begin; with_lengths && i < group.end; ++i) {
    append_le(to, static_cast<std::uint16_t>(suffix(i).size()));
    if (wide) append_le(to, static_cast<std::uint16_t>(suffix(i).size() >> 16));
  }
  to += std::string_view(blocks_[group.begin].separator).substr(0, shared);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (suffix(i).size() > kHeadBytes) to += suffix(i).substr(kHeadBytes);
  }
}

std::size_t IndexBuilder::shared_bytes(const Group& group) const {
  return common_prefix(blocks_[group.begin].separator, blocks_[group.end - 1].separator);
}

bool IndexBuilder::needs_lengths(const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (!is_its_head(std::string_view(blocks_[i].separator).substr(shared))) return true;
  }
  return false;
}

bool IndexBuilder::is_wide(const Group& group) const {
  const std::size_t shared = shared_bytes(group);
  if (shared > kMaxNarrowIndexBytes) return true;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (blocks_[i].separator.size() - shared > kMaxNarrowIndexBytes) return true;
  }
  return false;
}

bool IndexBuilder::has_continuations(const Group& group) const {
  for (std::size_t i = group.begin; i < group.end; ++i) {
    if (blocks_[i].continues) return true;
  }
  return false;
}

}  // namespace tamis
