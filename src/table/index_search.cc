// Searches an index in memory; index_format.cc decodes its bytes.
#include <algorithm>
#include <bit>

#include "base/check.h"
#include "entry/entry.h"
#include "table/index_format.h"

namespace tamis {
namespace {

constexpr std::size_t kHeadBytes = kIndexHeadBytes;

/// As key.substr(0, prefix.size()).compare(prefix), which would also limit the difference of long lengths to an int.
int compare_start(std::string_view key, std::string_view prefix) {
  const int order = std::char_traits<char>::compare(key.data(), prefix.data(), std::min(key.size(), prefix.size()));
  return order != 0 ? order : key.size() < prefix.size() ? -1 : 0;
}

/// How many of `count` ascending numbers are at most `wanted`, branchless. Three comparisons at a time leave a quarter,
/// and are independent of each other: one more line to load than binary search, but half as many dependent loads. Eight
/// numbers, one line, are all compared.
std::size_t upper_bound(const std::uint64_t* numbers, std::size_t count, std::uint64_t wanted) {
  const std::uint64_t* base = numbers;
  const auto is_passed = [&](std::size_t i) { return static_cast<std::size_t>(base[i] <= wanted); };
  while (count > 8) {
    const std::size_t quarter = count / 4;
    base += quarter * (is_passed(quarter - 1) + is_passed(2 * quarter - 1) + is_passed(3 * quarter - 1));
    count -= 3 * quarter;  // Exact for the last quarter only; beyond any other, all exceed `wanted`.
  }
  std::size_t passed = static_cast<std::size_t>(base - numbers);
  for (std::size_t i = 0; i < count; ++i) passed += is_passed(i);
  return passed;
}

}  // namespace

std::uint32_t Index::locate(std::string_view key) const { return locate_in(begin_locate(key), key); }

std::uint32_t Index::locate_in(std::uint32_t group, std::string_view key) const {
  std::uint32_t block = last_at_or_before(groups_[group], key);
  while (continues(block) && is_separator(block, key)) --block;
  return block;
}

std::uint32_t Index::begin_locate(std::string_view key) const {
  std::size_t found = 0;
  if (const int order = compare_start(key, prefix_); order != 0) {
    found = order < 0 ? 0 : groups_.size() - 1;
  } else {
    found = find_group(key);
  }
  const Group& group = groups_[found];
  const std::uint64_t* own = heads() + group.first_block;
  for (std::size_t i = 0; i < group.blocks; i += kCacheLineBytes / kHeadBytes) __builtin_prefetch(own + i);
  return static_cast<std::uint32_t>(found);
}

std::uint32_t Index::last_at_or_before(const Group& group, std::string_view key) const {
  const std::uint64_t* own = heads() + group.first_block;
  // The key is at or after the group's first separator, so if it lacks the group's prefix it is after the last one;
  // unless it is before all separators of the index.
  if (const int order = compare_start(key, prefix_of(group)); order != 0) {
    return group.first_block + (order < 0 ? 0U : group.blocks - 1U);
  }
  const std::string_view suffix = key.substr(group.prefix_bytes);
  const std::uint64_t head = key_head(suffix);
  std::size_t up_to = upper_bound(own, group.blocks, head);
  if (group.has_tails && up_to > 0 && own[up_to - 1] == head) {
    std::size_t begin = head == 0 ? 0 : upper_bound(own, up_to, head - 1);
    while (begin < up_to) {
      const std::size_t middle = (begin + up_to) / 2;
      if (tail_is_at_or_before(group, middle, suffix)) {
        begin = middle + 1;
      } else {
        up_to = middle;
      }
    }
  }
  return group.first_block + static_cast<std::uint32_t>(up_to == 0 ? 0 : up_to - 1);
}

/// The last group whose first separator is at or before the key, or the first group.
std::size_t Index::find_group(std::string_view key) const {
  const std::uint64_t head = key_head(key.substr(prefix_.size()));
  std::size_t after = upper_bound(top_.data(), top_.size(), head);
  if (after > 0 && top_[after - 1] == head) {
    std::size_t begin = head == 0 ? 0 : upper_bound(top_.data(), after, head - 1);
    while (begin < after) {
      const std::size_t middle = (begin + after) / 2;
      if (is_at_or_before(groups_[middle], 0, key)) {
        begin = middle + 1;
      } else {
        after = middle;
      }
    }
  }
  return after == 0 ? 0 : after - 1;
}

bool Index::is_at_or_before(const Group& group, std::size_t i, std::string_view key) const {
  if (const int order = compare_start(key, prefix_of(group)); order != 0) return order > 0;
  const std::string_view suffix = key.substr(group.prefix_bytes);
  const std::uint64_t own = heads()[group.first_block + i];
  const std::uint64_t head = key_head(suffix);
  if (own != head) return own < head;
  return !group.has_tails || tail_is_at_or_before(group, i, suffix);
}

/// For a separator with the head of `suffix`: if it is no longer than the head, lengths decide.
bool Index::tail_is_at_or_before(const Group& group, std::size_t i, std::string_view suffix) const {
  const std::size_t length = short_lengths_[group.tails_begin + i];
  if (length <= kHeadBytes) return length <= suffix.size();
  return suffix.size() > kHeadBytes && tail(group, i) <= suffix.substr(kHeadBytes);
}

bool Index::is_separator(std::uint32_t block, std::string_view key) const {
  const Group& group = group_of(block);
  const std::size_t i = block - group.first_block;
  if (key.size() != group.prefix_bytes + suffix_bytes(group, i) || !key.starts_with(prefix_of(group))) return false;
  const std::string_view suffix = key.substr(group.prefix_bytes);
  if (key_head(suffix) != heads()[block]) return false;
  return suffix.size() <= kHeadBytes || suffix.substr(kHeadBytes) == tail(group, i);
}

BlockPosition Index::position(std::uint32_t block) const {
  const Group& group = group_of(block);
  const std::uint32_t begin = block == group.first_block ? 0 : ends_[block - 1];
  return {group.offset + begin, ends_[block] - begin};
}

std::string Index::separator(std::uint32_t block) const {
  const Group& group = group_of(block);
  std::string text(prefix_of(group));
  return text.append(suffix(group, block - group.first_block));
}

/// A separator without its group's prefix.
std::string Index::suffix(const Group& group, std::size_t i) const {
  char head[kHeadBytes];
  store_be(head, heads()[group.first_block + i]);
  std::string text(head, std::min(suffix_bytes(group, i), kHeadBytes));
  return text.append(tail(group, i));
}

const Index::Group& Index::group_of(std::uint32_t block) const {
  TAMIS_INVARIANT(block < blocks());
  if (groups_are_full_) return groups_[block / kIndexGroupBlocks];
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), block,
                                      [](std::uint32_t b, const Group& group) { return b < group.first_block; });
  return *(after - 1);
}

std::size_t Index::suffix_bytes(const Group& group, std::size_t i) const {
  if (group.has_tails) {
    const std::uint8_t length = short_lengths_[group.tails_begin + i];
    return length != kHasTail ? length : kHeadBytes + tail(group, i).size();
  }
  const std::uint64_t head = heads()[group.first_block + i];
  return kHeadBytes - static_cast<std::size_t>(std::countr_zero(head)) / 8;  // 64 zeros for no head.
}

std::string_view Index::tail(const Group& group, std::size_t i) const {
  if (!group.has_tails) return {};
  const std::size_t number = group.tails_begin + i;
  const std::size_t begin = i == 0 ? std::size_t{group.prefix_begin} + group.prefix_bytes : tail_ends_[number - 1];
  return std::string_view(texts_).substr(begin, tail_ends_[number] - begin);
}

}  // namespace tamis
