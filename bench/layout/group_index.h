// Heads of eight bytes in groups of 128 blocks, after the prefix that the group shares; tails where a head is not all.
#pragma once

#include "base/aligned_bytes.h"
#include "layout/separators.h"
#include "layout/simd.h"

namespace tamis::layout {

/// How the 128 heads of a group are searched. All read the same stored bytes, except kLines, which also keeps every
/// eighth head apart (made when an index is loaded).
enum class GroupSearch { kBinary, kPrefetched, kWhole, kLines, kInterpolated };

template <GroupSearch kSearch, std::size_t kGroup = 128>
class GroupIndex {
 public:
  static std::string name() {
    const char* how = kSearch == GroupSearch::kBinary       ? "binary"
                      : kSearch == GroupSearch::kPrefetched ? "prefetched"
                      : kSearch == GroupSearch::kWhole      ? "all compared"
                      : kSearch == GroupSearch::kLines      ? "two steps"
                                                            : "interpolated";
    return fmt::format("{}, groups of {}", how, kGroup);
  }
  static constexpr std::size_t kStep = 8;  // Heads in a cache line.

  explicit GroupIndex(std::span<const std::string> separators) : count_(separators.size()) {
    const std::size_t groups = (count_ + kGroup - 1) / kGroup;
    heads_ = AlignedBytes::zeroed(groups * kGroup * sizeof(std::uint64_t));
    samples_ = AlignedBytes::zeroed(groups * kGroup / kStep * sizeof(std::uint64_t));
    std::memset(heads_.data(), 0xff, heads_.size());
    prefix_ = separators.front().substr(0, common_prefix(separators.front(), separators.back()));
    for (std::size_t begin = 0; begin < count_; begin += kGroup) {
      add_group(begin, separators.subspan(begin, std::min(kGroup, count_ - begin)));
    }
  }

  [[nodiscard]] std::size_t find(std::string_view key) const {
    const int order = key.substr(0, prefix_.size()).compare(prefix_);
    if (order != 0) return order < 0 ? 0 : count_ - 1;
    const std::size_t number = find_group(key);
    const Group& group = groups_[number];
    const std::size_t begin = number * kGroup;
    const std::uint64_t* heads = head_array() + begin;
    if constexpr (kSearch == GroupSearch::kPrefetched) {
      for (std::size_t i = 0; i < kGroup; i += kStep) __builtin_prefetch(heads + i);
    }
    // The key is at or after the group's first separator, so that without the group's prefix it is after its last.
    if (!key.starts_with(prefix_of(group))) return begin + group.count - 1;
    const std::uint64_t head = head_after(key, group.prefix_bytes);
    std::size_t up_to = std::min<std::size_t>(count_up_to(number, group, head), group.count);
    if (group.has_tails && up_to > 0 && heads[up_to - 1] == head) up_to = settle(number, up_to, head, key);
    return begin + (up_to == 0 ? 0 : up_to - 1);
  }

  /// What the search needs in memory.
  [[nodiscard]] std::size_t bytes() const {
    const std::size_t samples = kSearch == GroupSearch::kLines ? samples_.size() : 0;
    return count_ * sizeof(std::uint64_t) + samples + firsts_.bytes() + tails_.bytes() + 2 * lengths_.size() +
           prefixes_.size() + groups_.size() * (sizeof(Group) + sizeof(std::uint64_t));
  }
  /// What the layout of docs/decisions/0008-index.md takes in a file: a group has a row of 24 bytes and its prefix, a
  /// block its head and its size, and where heads do not say all, its length and the rest.
  [[nodiscard]] std::size_t file_bytes() const {
    const std::size_t tails = tails_.bytes() - sizeof(std::uint32_t) * tails_.size();
    return groups_.size() * 24 + prefixes_.size() + count_ * (8 + 4) + 2 * lengths_.size() + tails;
  }

 private:
  struct Group {
    std::uint32_t prefix_begin;  // In prefixes_.
    std::uint16_t prefix_bytes;
    std::uint8_t count;
    bool has_tails;
    std::uint32_t tails_begin;  // In lengths_ and tails_.
  };

  void add_group(std::size_t begin, std::span<const std::string> separators) {
    const std::size_t shared = common_prefix(separators.front(), separators.back());
    Group group = {static_cast<std::uint32_t>(prefixes_.size()), static_cast<std::uint16_t>(shared),
                   static_cast<std::uint8_t>(separators.size()), false, static_cast<std::uint32_t>(tails_.size())};
    prefixes_ += separators.front().substr(0, shared);
    for (const std::string& separator : separators) group.has_tails |= needs_tail(separator, shared);
    for (std::size_t i = 0; i < separators.size(); ++i) {
      head_array()[begin + i] = head_after(separators[i], shared);
      if (!group.has_tails) continue;
      lengths_.push_back(static_cast<std::uint16_t>(separators[i].size() - shared));
      tails_.add(std::string_view(separators[i]).substr(std::min(separators[i].size(), shared + 8)));
    }
    auto* samples = reinterpret_cast<std::uint64_t*>(samples_.data()) + begin / kStep;
    for (std::size_t i = 0; i < kGroup; i += kStep) samples[i / kStep] = head_array()[begin + i];
    top_.push_back(head_after(separators.front(), prefix_.size()));
    firsts_.add(separators.front());
    groups_.push_back(group);
  }

  /// A head says all unless the separator is longer, or ends in a zero that cannot be told from padding.
  static bool needs_tail(std::string_view separator, std::size_t shared) {
    return separator.size() > shared + 8 || (separator.size() > shared && separator.back() == '\0');
  }

  [[nodiscard]] std::size_t find_group(std::string_view key) const {
    const std::uint64_t head = head_after(key, prefix_.size());
    std::size_t after = upper_bound64(top_.data(), top_.size(), head);
    if (after > 0 && top_[after - 1] == head) {
      const std::size_t equal = head == 0 ? 0 : upper_bound64(top_.data(), after, head - 1);
      after = upper_bound_text(firsts_, equal, after, key);
    }
    return after == 0 ? 0 : after - 1;
  }

  [[nodiscard]] std::size_t count_up_to(std::size_t number, const Group& group, std::uint64_t head) const {
    const std::uint64_t* heads = head_array() + number * kGroup;
    if constexpr (kSearch == GroupSearch::kWhole) return kSimd.count_up_to64(heads, kGroup, head);
    if constexpr (kSearch == GroupSearch::kLines) {
      const auto* samples = reinterpret_cast<const std::uint64_t*>(samples_.data()) + number * (kGroup / kStep);
      const std::size_t lines = kSimd.count_up_to64(samples, kGroup / kStep, head);
      if (lines == 0) return 0;
      return (lines - 1) * kStep + kSimd.count_up_to64(heads + (lines - 1) * kStep, kStep, head);
    }
    if constexpr (kSearch == GroupSearch::kInterpolated) return interpolated(heads, group.count, head);
    return upper_bound64(heads, group.count, head);
  }

  /// Starts at the line where the head would be if heads were spread evenly and walks from there, line by line.
  static std::size_t interpolated(const std::uint64_t* heads, std::size_t count, std::uint64_t head) {
    const std::uint64_t low = heads[0];
    const std::uint64_t high = heads[count - 1];
    if (head < low) return 0;
    if (head >= high) return count;
    const double share = static_cast<double>(head - low) / static_cast<double>(high - low);
    const auto guess = std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
    std::size_t line = guess / kStep * kStep;
    while (line > 0 && heads[line] > head) line -= kStep;
    while (line + kStep < count && heads[line + kStep] <= head) line += kStep;
    return line + kSimd.count_up_to64(heads + line, kStep, head);
  }

  /// Among the blocks whose head is the wanted one: how many are at or before the key, by tails.
  [[nodiscard]] std::size_t settle(std::size_t number, std::size_t up_to, std::uint64_t head,
                                   std::string_view key) const {
    const Group& group = groups_[number];
    const std::uint64_t* heads = head_array() + number * kGroup;
    const std::size_t equal = head == 0 ? 0 : upper_bound64(heads, up_to, head - 1);
    const std::string_view suffix = key.substr(group.prefix_bytes);
    std::size_t end = up_to;
    for (std::size_t begin = equal; begin < end;) {
      const std::size_t middle = (begin + end) / 2;
      if (is_at_or_before(group.tails_begin + middle, suffix)) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return end;
  }

  /// For a separator with the head of `suffix`: where it is no longer than the head, lengths decide.
  [[nodiscard]] bool is_at_or_before(std::size_t number, std::string_view suffix) const {
    if (lengths_[number] <= 8) return lengths_[number] <= suffix.size();
    return suffix.size() > 8 && tails_[number] <= suffix.substr(8);
  }

  [[nodiscard]] std::string_view prefix_of(const Group& group) const {
    return std::string_view(prefixes_).substr(group.prefix_begin, group.prefix_bytes);
  }
  [[nodiscard]] const std::uint64_t* head_array() const {
    return reinterpret_cast<const std::uint64_t*>(heads_.data());
  }
  [[nodiscard]] std::uint64_t* head_array() { return reinterpret_cast<std::uint64_t*>(heads_.data()); }

  std::size_t count_;
  std::string prefix_;              // Of all separators.
  std::vector<std::uint64_t> top_;  // The groups' first separators after prefix_.
  PackedTexts firsts_;              // The same, whole.
  std::vector<Group> groups_;
  std::string prefixes_;
  AlignedBytes heads_;
  AlignedBytes samples_;
  // One per block of a group that has tails.
  std::vector<std::uint16_t> lengths_;  // Of the separator after the group's prefix.
  PackedTexts tails_;                   // What is beyond the head; often nothing.
};

}  // namespace tamis::layout
