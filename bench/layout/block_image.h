// All blocks of a key set in one piece of memory, as the block cache would hold them.
#pragma once

#include <vector>

#include "base/aligned_bytes.h"
#include "layout/entry.h"

namespace tamis::layout {

inline constexpr std::size_t kWindow = 64;  // Entries offered to a builder at a time; more than fit a block.

inline std::uint64_t hash_of(std::string_view key) {
  static const KeyHasher kHasher(KeyHasher::Key{std::byte{7}});
  return kHasher(key);
}

/// The next entries of a key set, with values in a buffer of their own.
class EntryWindow {
 public:
  /// `span_of_sequences` 0: the last level, where all sequences are 0; otherwise they are drawn below it.
  EntryWindow(const KeySet& set, std::uint64_t span_of_sequences) : set_(set), span_(span_of_sequences) {}

  std::span<const SourceEntry> at(std::size_t first) {
    const std::size_t count = std::min(kWindow, set_.keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      char* value = values_.data() + i * kValueBytes;
      write_value(first + i, value);
      const std::string_view key = set_.keys[first + i];
      const std::uint64_t sequence = span_ == 0 ? 0 : fast_range(remix(first + i), span_);
      entries_[i] = {key, {value, kValueBytes}, hash_of(key), sequence};
    }
    return std::span(entries_).first(count);
  }

 private:
  const KeySet& set_;
  std::uint64_t span_;
  std::array<char, kWindow* kValueBytes> values_ = {};
  std::array<SourceEntry, kWindow> entries_ = {};
};

struct BlockPlace {
  std::uint64_t begin;
  std::uint32_t size;
  std::uint32_t first_entry;
};

/// Blocks begin on cache lines and lie on large pages. They are packed, not one per 4096 bytes: at that stride the
/// first lines of all blocks would share a few sets of the caches.
struct BlockImage {
  AlignedBytes bytes;
  std::vector<BlockPlace> places;

  [[nodiscard]] std::string_view block(std::size_t number) const {
    return as_text(bytes.span()).substr(places[number].begin, places[number].size);
  }
  [[nodiscard]] std::size_t block_of(std::size_t entry) const {
    const auto after = std::ranges::upper_bound(places, entry, {}, &BlockPlace::first_entry);
    return static_cast<std::size_t>(after - places.begin()) - 1;
  }
  /// Of blocks and trailers, without the padding to cache lines.
  [[nodiscard]] std::uint64_t file_bytes() const {
    std::uint64_t sum = 0;
    for (const BlockPlace& place : places) sum += place.size + kTrailerBytes;
    return sum;
  }
};

template <typename Block>
BlockImage build_image(const KeySet& set) {
  BlockImage image;
  EntryWindow window(set, 0);
  std::string text;
  text.reserve(set.text.size() + set.keys.size() * (kValueBytes + 16) + kBlockBytes);
  for (std::size_t first = 0; first < set.keys.size();) {
    text.resize((text.size() + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes);
    const std::size_t begin = text.size();
    const std::size_t count = Block::build(window.at(first), text);
    image.places.push_back({begin, static_cast<std::uint32_t>(text.size() - begin), static_cast<std::uint32_t>(first)});
    first += count;
  }
  text.append(kBlockSlack, '\0');
  image.bytes = AlignedBytes::copy_of(as_bytes(text));
  return image;
}

}  // namespace tamis::layout
