// Heads in layers: where several separators share a head, a node of their own continues after what they share.
#pragma once

#include "base/aligned_bytes.h"
#include "layout/separators.h"

namespace tamis::layout {

/// Made in memory from the separators when an index is loaded; the file holds them as group_index.h has them.
///
/// A node stands for a range of separators. It strips what all of them share, then holds their distinct heads. A head
/// that says all of its separator ends the search; any other leads to a node for the separators that begin with it.
/// Root nodes may be large: every 128th head is also in a short array searched first, the 128 behind it are prefetched.
class LayeredIndex {
 public:
  static std::string name() { return "layers of heads"; }

  explicit LayeredIndex(std::span<const std::string> separators) : separators_(separators) {
    build(0, separators.size(), 0);
    pinned_heads_ = AlignedBytes::copy_of(std::as_bytes(std::span(heads_)));
    heads_ = {};
    separators_ = {};
  }

  [[nodiscard]] std::size_t find(std::string_view key) const {
    const std::size_t up_to = count_up_to(key);
    return up_to == 0 ? 0 : up_to - 1;
  }

  [[nodiscard]] std::size_t bytes() const {
    return pinned_heads_.size() + samples_.size() * 8 + nodes_.size() * sizeof(Node) + links_.size() * sizeof(Link) +
           prefixes_.size() + lists_.bytes();
  }

 private:
  static constexpr std::size_t kGroup = 128;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  enum class Kind : std::uint8_t { kPlain, kMixed, kLeaf, kList };

  struct Node {
    std::uint32_t begin;  // Its separators.
    std::uint32_t end;
    std::uint32_t heads;  // Where its heads begin; kList: where its texts do.
    std::uint32_t count;
    std::uint32_t samples;
    std::uint32_t links;
    std::uint32_t prefix;
    std::uint16_t prefix_bytes;
    Kind kind;  // kPlain: each head is one whole separator. kLeaf: one separator, all of it in the prefix.
  };
  struct Link {
    std::uint32_t begin;  // The first separator with this head.
    std::uint32_t child;  // Or kNone, where the head is the whole separator.
  };

  /// How many separators are at or before the key.
  [[nodiscard]] std::size_t count_up_to(std::string_view key) const {
    const Node* node = nodes_.data();
    while (true) {
      const std::string_view prefix(prefixes_.data() + node->prefix, node->prefix_bytes);
      const int order = key.substr(0, prefix.size()).compare(prefix);
      if (order < 0) return node->begin;
      if (order > 0 || node->kind == Kind::kLeaf) return node->end;
      key.remove_prefix(prefix.size());
      if (node->kind == Kind::kList) return count_in_list(*node, key);
      const std::uint64_t head = head_after(key, 0);
      const std::size_t up_to = search(*node, head);
      if (node->kind == Kind::kPlain) return node->begin + up_to;
      if (up_to == 0) return node->begin;
      const Link* link = &links_[node->links + up_to - 1];
      if (link->child == kNone || head_array()[node->heads + up_to - 1] != head) return link[1].begin;
      node = &nodes_[link->child];
      if (node->kind == Kind::kList) continue;
      // Every separator below is longer than the head, so a key that ends within it comes before them.
      if (key.size() <= 8) return link->begin;
      key.remove_prefix(8);
    }
  }

  [[nodiscard]] std::size_t search(const Node& node, std::uint64_t head) const {
    const std::uint64_t* heads = head_array() + node.heads;
    std::size_t begin = 0;
    if (node.count > kGroup) {
      const std::size_t groups = (node.count + kGroup - 1) / kGroup;
      const std::size_t group = upper_bound64(samples_.data() + node.samples, groups, head);
      if (group == 0) return 0;
      begin = (group - 1) * kGroup;
    }
    const std::size_t count = std::min<std::size_t>(kGroup, node.count - begin);
    for (std::size_t i = 0; i < count; i += 8) __builtin_prefetch(heads + begin + i);
    return begin + upper_bound64(heads + begin, count, head);
  }

  [[nodiscard]] std::size_t count_in_list(const Node& node, std::string_view key) const {
    const std::size_t count = node.end - node.begin;
    return node.begin + upper_bound_text(lists_, node.heads, node.heads + count, key) - node.heads;
  }

  std::uint32_t build(std::size_t begin, std::size_t end, std::size_t depth) {
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), 0, 0, 0, 0,
                      static_cast<std::uint32_t>(prefixes_.size()), 0, Kind::kLeaf});
    const std::size_t shared = common_prefix(suffix(begin, depth), suffix(end - 1, depth));
    prefixes_ += suffix(begin, depth).substr(0, shared);
    nodes_[number].prefix_bytes = static_cast<std::uint16_t>(shared);
    if (end - begin > 1) add_heads(number, depth + shared);
    return number;
  }

  void add_heads(std::uint32_t number, std::size_t depth) {
    const std::size_t begin = nodes_[number].begin;
    const std::size_t end = nodes_[number].end;
    std::vector<Link> links;
    heads_.resize((heads_.size() + 7) / 8 * 8);  // Nodes begin on cache lines.
    nodes_[number].heads = static_cast<std::uint32_t>(heads_.size());
    nodes_[number].samples = static_cast<std::uint32_t>(samples_.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint64_t head = head_after(suffix(i, depth), 0);
      if (!links.empty() && heads_.back() == head) continue;
      if (links.size() % kGroup == 0) samples_.push_back(head);
      heads_.push_back(head);
      links.push_back({static_cast<std::uint32_t>(i), kNone});
    }
    nodes_[number].count = static_cast<std::uint32_t>(links.size());
    links.push_back({static_cast<std::uint32_t>(end), kNone});
    bool plain = links.size() == end - begin + 1;
    for (std::size_t i = 0; i + 1 < links.size(); ++i) plain &= says_all(links[i].begin, links[i + 1].begin, depth);
    nodes_[number].kind = plain ? Kind::kPlain : Kind::kMixed;
    if (plain) return;
    nodes_[number].links = static_cast<std::uint32_t>(links_.size());
    const std::size_t first = links_.size();
    links_.insert(links_.end(), links.begin(), links.end());
    for (std::size_t i = 0; i + 1 < links.size(); ++i) {
      if (says_all(links[i].begin, links[i + 1].begin, depth)) continue;
      links_[first + i].child = child(links[i].begin, links[i + 1].begin, depth);
    }
  }

  /// A separator that ends in a zero cannot be told from a shorter one by its head.
  [[nodiscard]] bool says_all(std::size_t begin, std::size_t end, std::size_t depth) const {
    const std::string_view text = suffix(begin, depth);
    return end - begin == 1 && text.size() <= 8 && (text.empty() || text.back() != '\0');
  }

  /// Where a separator ends within the head that it shares, whole strings are searched: this is rare.
  std::uint32_t child(std::size_t begin, std::size_t end, std::size_t depth) {
    if (suffix(begin, depth).size() > 8) return build(begin, end, depth + 8);
    const auto number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                      static_cast<std::uint32_t>(lists_.size()), 0, 0, 0, 0, 0, Kind::kList});
    for (std::size_t i = begin; i < end; ++i) lists_.add(suffix(i, depth));
    return number;
  }

  [[nodiscard]] std::string_view suffix(std::size_t i, std::size_t depth) const {
    return std::string_view(separators_[i]).substr(depth);
  }
  [[nodiscard]] const std::uint64_t* head_array() const {
    return reinterpret_cast<const std::uint64_t*>(pinned_heads_.data());
  }

  std::span<const std::string> separators_;  // While building.
  std::vector<std::uint64_t> heads_;
  AlignedBytes pinned_heads_;  // The same on large pages.
  std::vector<std::uint64_t> samples_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::string prefixes_;
  PackedTexts lists_;
};

}  // namespace tamis::layout
