// What an index searches: for each block the shortest string that tells its first key from the last key before it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "layout/key_sets.h"

namespace tamis::layout {

/// first[i] is the number of block i's first key. Separators that would end in a zero are made longer, since a head
/// cannot tell that zero from padding. Nothing is before the first block: its separator is as much of its first key as
/// differs from the second separator, so that it spoils no prefix and needs no tail.
inline std::vector<std::string> make_separators(std::span<const std::string_view> keys,
                                                std::span<const std::uint32_t> first) {
  std::vector<std::string> separators;
  separators.reserve(first.size());
  for (const std::uint32_t number : first) {
    const std::string_view key = keys[number];
    std::size_t bytes = number == 0 ? key.size() : common_prefix(keys[number - 1], key) + 1;
    while (bytes < key.size() && key[bytes - 1] == '\0') ++bytes;
    separators.emplace_back(key.substr(0, bytes));
  }
  if (separators.size() > 1)
    separators[0].resize(std::min(separators[0].size(), common_prefix(separators[0], separators[1]) + 1));
  return separators;
}

/// The eight bytes after the first `prefix` ones as a number whose order is theirs; zeros where there are fewer.
inline std::uint64_t head_after(std::string_view text, std::size_t prefix) {
  if (text.size() >= prefix + 8) return load_be<std::uint64_t>(text.data() + prefix);
  char padded[8] = {};
  if (text.size() > prefix) std::memcpy(padded, text.data() + prefix, text.size() - prefix);
  return load_be<std::uint64_t>(padded);
}

/// How many of `count` numbers, ascending, are at most `wanted`: one comparison per halving and no branch on it.
inline std::size_t upper_bound64(const std::uint64_t* numbers, std::size_t count, std::uint64_t wanted) {
  const std::uint64_t* base = numbers;
  while (count > 1) {
    const std::size_t half = count / 2;
    base += base[half - 1] <= wanted ? half : 0;
    count -= half;
  }
  return static_cast<std::size_t>(base - numbers) + (count == 1 && *base <= wanted ? 1 : 0);
}

/// Strings in one buffer.
class PackedTexts {
 public:
  void add(std::string_view text) {
    text_ += text;
    ends_.push_back(static_cast<std::uint32_t>(text_.size()));
  }
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    const std::uint32_t begin = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + begin, ends_[i] - begin};
  }
  [[nodiscard]] std::size_t bytes() const { return text_.size() + ends_.size() * sizeof(std::uint32_t); }

 private:
  std::string text_;
  std::vector<std::uint32_t> ends_;
};

/// How many of texts[begin … end-1], ascending, are at most `wanted`, plus `begin`.
template <typename Texts>
std::size_t upper_bound_text(const Texts& texts, std::size_t begin, std::size_t end, std::string_view wanted) {
  while (begin < end) {
    const std::size_t middle = (begin + end) / 2;
    if (texts[middle] <= wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

}  // namespace tamis::layout
