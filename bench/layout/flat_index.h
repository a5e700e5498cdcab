// Two indexes without groups: whole separators, and heads of all blocks after the one prefix that all of them share.
#pragma once

#include "layout/separators.h"
#include "layout/simd.h"

namespace tamis::layout {

/// The textbook index: binary search over whole separators.
class SeparatorIndex {
 public:
  static std::string name() { return "whole separators"; }

  explicit SeparatorIndex(std::span<const std::string> separators) {
    for (const std::string& separator : separators) texts_.add(separator);
  }
  [[nodiscard]] std::size_t find(std::string_view key) const {
    const std::size_t after = upper_bound_text(texts_, 1, texts_.size(), key);
    return after - 1;
  }
  [[nodiscard]] std::size_t bytes() const { return texts_.bytes(); }
  /// Without compressing separators against each other; a block's size takes four bytes, as in the others.
  [[nodiscard]] std::size_t file_bytes() const { return texts_.bytes() + 4 * texts_.size(); }

 private:
  PackedTexts texts_;
};

/// A static B-tree of cache lines over the heads of all separators; each level holds every eighth of the one below.
/// Where heads are equal, whole separators decide.
class LineTreeIndex {
 public:
  static std::string name() { return "tree of lines"; }

  explicit LineTreeIndex(std::span<const std::string> separators) {
    prefix_ = separators.front().substr(0, common_prefix(separators.front(), separators.back()));
    std::vector<std::uint64_t> level;
    for (const std::string& separator : separators) {
      texts_.add(separator);
      level.push_back(head_after(separator, prefix_.size()));
    }
    while (true) {
      level.resize((level.size() + 7) / 8 * 8, ~std::uint64_t{0});
      levels_.push_back(level);
      if (level.size() == 8) break;
      std::vector<std::uint64_t> above;
      for (std::size_t i = 0; i < level.size(); i += 8) above.push_back(level[i]);
      level = std::move(above);
    }
  }

  [[nodiscard]] std::size_t find(std::string_view key) const {
    const int order = key.substr(0, prefix_.size()).compare(prefix_);
    if (order != 0) return order < 0 ? 0 : texts_.size() - 1;
    const std::uint64_t head = head_after(key, prefix_.size());
    std::size_t at = 0;
    for (std::size_t level = levels_.size(); level-- > 0;) {
      const std::size_t up_to = kSimd.count_up_to64(levels_[level].data() + at, 8, head);
      at = level > 0 ? (at + (up_to == 0 ? 0 : up_to - 1)) * 8 : at + up_to;
    }
    at = std::min(at, texts_.size());
    const std::vector<std::uint64_t>& heads = levels_.front();
    if (at == 0 || heads[at - 1] != head) return at == 0 ? 0 : at - 1;
    const std::size_t equal = head == 0 ? 0 : upper_bound64(heads.data(), at, head - 1);
    const std::size_t after = upper_bound_text(texts_, equal, at, key);
    return after == 0 ? 0 : after - 1;
  }
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = texts_.bytes();
    for (const std::vector<std::uint64_t>& level : levels_) sum += level.size() * sizeof(std::uint64_t);
    return sum;
  }
  [[nodiscard]] std::size_t file_bytes() const { return texts_.bytes() + 4 * texts_.size(); }

 private:
  std::string prefix_;
  PackedTexts texts_;
  std::vector<std::vector<std::uint64_t>> levels_;  // The heads themselves first.
};

}  // namespace tamis::layout
