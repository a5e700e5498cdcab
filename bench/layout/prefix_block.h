// Blocks whose entries are reached directly: the prefix common to all keys once, offsets of 16 bits, and one of several
// ways to find the entry.
#pragma once

#include <bit>
#include <span>

#include "layout/entry.h"
#include "layout/simd.h"

namespace tamis::layout {

/// What helps to find a key; kBinary is the search by key that all of them have for seeks.
enum class Finder { kBinary, kTags, kHash };

///     0  u16  entries n
///     2  u16  bytes of the common prefix
///     4  u64  base sequence
///    12  u8   kTags: n tags. kHash: 4n/3 + 1 buckets, each an entry's number + 1 or 0
///     …  u16  kHeads: n heads: the first two bytes after the prefix as a number, zeros where the key is shorter
///     …  u16  n offsets from the block's begin
///     …       the common prefix
///     …       entries: varint bytes of key after the prefix, varint (sequence offset, kind), key after prefix and
///     head,
///             value up to the next entry
template <Finder kFinder, bool kHeads>
struct PrefixBlock {
  static constexpr std::size_t kHeaderBytes = 12;
  static constexpr std::size_t kHeadBytes = kHeads ? 2 : 0;
  static constexpr const char* kName = kFinder == Finder::kHash   ? "hash table"
                                       : kFinder == Finder::kTags ? (kHeads ? "tags + heads" : "tags")
                                                                  : (kHeads ? "heads" : "binary search");

  static std::size_t finder_bytes(std::size_t count) {
    if (kFinder == Finder::kTags) return count;
    return kFinder == Finder::kHash ? count * 4 / 3 + 1 : 0;
  }

  /// Where things are in a block; all of it follows from the first four bytes.
  struct View {
    explicit View(std::string_view whole)
        : block(whole), count(load_le<std::uint16_t>(whole.data())), prefix(load_le<std::uint16_t>(whole.data() + 2)) {
      heads = block.data() + kHeaderBytes + finder_bytes(count);
      offsets = heads + kHeadBytes * count;
    }
    [[nodiscard]] const char* finder() const { return block.data() + kHeaderBytes; }
    [[nodiscard]] std::string_view prefix_text() const { return {offsets + 2 * count, prefix}; }
    [[nodiscard]] std::uint16_t head(std::size_t i) const { return load_le<std::uint16_t>(heads + 2 * i); }
    [[nodiscard]] const char* entry(std::size_t i) const {
      return block.data() + load_le<std::uint16_t>(offsets + 2 * i);
    }
    [[nodiscard]] const char* end(std::size_t i) const {
      return i + 1 < count ? entry(i + 1) : block.data() + block.size();
    }

    std::string_view block;
    std::size_t count;
    std::size_t prefix;
    const char* heads;
    const char* offsets;
  };

  /// An entry's parts: `rest` is its key after prefix and head, `suffix_bytes` counts the head's bytes as well.
  struct Entry {
    Entry(const View& view, std::size_t i) {
      const char* at = view.entry(i);
      suffix_bytes = take_varint(at);
      take_varint(at);
      rest = {at, suffix_bytes > kHeadBytes ? suffix_bytes - kHeadBytes : 0};
      value = {rest.data() + rest.size(), static_cast<std::size_t>(view.end(i) - rest.data()) - rest.size()};
    }
    std::size_t suffix_bytes;
    std::string_view rest;
    std::string_view value;
  };

  /// A key that is looked for, without the prefix; cut the same way as the entries are.
  struct Wanted {
    explicit Wanted(std::string_view suffix) : bytes(suffix.size()) {
      if constexpr (kHeads) {
        head = head_of(suffix);
        rest = suffix.size() > 2 ? suffix.substr(2) : std::string_view(suffix.data(), 0);
      } else {
        rest = suffix;
      }
    }
    [[nodiscard]] bool is(const View& view, std::size_t i, const Entry& entry) const {
      if (kHeads && view.head(i) != head) return false;
      return entry.suffix_bytes == bytes && entry.rest == rest;
    }
    /// Among entries with this head: whether the entry comes before.
    [[nodiscard]] bool is_after(const Entry& entry) const {
      const int order = entry.rest.compare(rest);
      return order < 0 || (order == 0 && entry.suffix_bytes < bytes);
    }
    std::size_t bytes;
    std::uint16_t head = 0;
    std::string_view rest;
  };

  static std::uint16_t head_of(std::string_view suffix) {
    if (suffix.size() >= 2) return load_be<std::uint16_t>(suffix.data());
    return suffix.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(static_cast<unsigned char>(suffix[0]) << 8);
  }

  /// The first entry at or after the wanted key.
  static std::size_t lower_bound(const View& view, const Wanted& wanted) {
    std::size_t low = 0;
    std::size_t size = view.count;
    if constexpr (kHeads) {
      low = kSimd.count_below16(view.heads, view.count, wanted.head);
      size = 0;
      while (low + size < view.count && view.head(low + size) == wanted.head) ++size;
    }
    while (size > 0) {
      const std::size_t half = size / 2;
      if (wanted.is_after(Entry(view, low + half))) {
        low += half + 1;
        size -= half + 1;
      } else {
        size = half;
      }
    }
    return low;
  }

  static Found find(std::string_view block, std::string_view key, std::uint64_t hash) {
    // Offsets and prefix lie in the next two lines; asked for now, they arrive with the first.
    __builtin_prefetch(block.data() + 64);
    __builtin_prefetch(block.data() + 128);
    const View view(block);
    if (!key.starts_with(view.prefix_text())) return {};
    const Wanted wanted(key.substr(view.prefix));
    if constexpr (kFinder == Finder::kTags) return find_by_tag(view, wanted, tag_of(hash));
    if constexpr (kFinder == Finder::kHash) return find_by_hash(view, wanted, hash);
    const std::size_t at = lower_bound(view, wanted);
    return at < view.count ? found_if(view, wanted, at) : Found{};
  }

  class Cursor {
   public:
    explicit Cursor(std::string_view block) : view_(block) { key_.set(0, view_.prefix_text().data(), view_.prefix); }
    [[nodiscard]] bool valid() const { return at_ < view_.count; }
    [[nodiscard]] std::string_view key() const { return key_.view(); }
    [[nodiscard]] std::string_view value() const { return {value_begin_, value_bytes_}; }

    void first() { go_to(0); }
    void next() { go_to(at_ + 1); }
    void seek(std::string_view wanted) {
      const int order = wanted.substr(0, view_.prefix).compare(view_.prefix_text());
      if (order != 0) return go_to(order < 0 ? 0 : view_.count);
      go_to(lower_bound(view_, Wanted(wanted.substr(view_.prefix))));
    }

   private:
    void go_to(std::size_t at) {
      at_ = at;
      if (!valid()) return;
      const Entry entry(view_, at);
      value_begin_ = entry.value.data();
      value_bytes_ = entry.value.size();
      const std::size_t in_head = std::min(kHeadBytes, entry.suffix_bytes);
      if constexpr (kHeads) {
        char head[2];
        store_be(head, view_.head(at));
        key_.set(view_.prefix, head, 2);
      }
      key_.set(view_.prefix + in_head, entry.rest.data(), entry.rest.size());
    }

    View view_;
    std::size_t at_ = 0;
    KeyBuffer key_;
    // Two words: g++ 12 copies a string_view by one wide load of two narrow stores, which costs 6 ns.
    const char* value_begin_ = nullptr;
    std::size_t value_bytes_ = 0;
  };

  static std::size_t build(std::span<const SourceEntry> entries, std::string& to);

 private:
  static Found found_if(const View& view, const Wanted& wanted, std::size_t i) {
    const Entry entry(view, i);
    if (!wanted.is(view, i, entry)) return {};
    return {entry.value.data(), entry.value.size()};
  }

  static Found find_by_tag(const View& view, const Wanted& wanted, std::uint8_t tag) {
    for (std::size_t begin = 0; begin < view.count; begin += 64) {
      std::uint64_t bits = kSimd.match_bytes(view.finder() + begin, tag);
      if (view.count - begin < 64) bits &= (std::uint64_t{1} << (view.count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const Found found = found_if(view, wanted, begin + static_cast<std::size_t>(std::countr_zero(bits)));
        if (found.value != nullptr) return found;
      }
    }
    return {};
  }

  static Found find_by_hash(const View& view, const Wanted& wanted, std::uint64_t hash) {
    const std::size_t buckets = finder_bytes(view.count);
    for (std::size_t at = fast_range(remix(hash), buckets);; at = at + 1 == buckets ? 0 : at + 1) {
      const auto number = static_cast<unsigned char>(view.finder()[at]);
      if (number == 0) return {};
      const Found found = found_if(view, wanted, number - 1U);
      if (found.value != nullptr) return found;
    }
  }

  static void write_finder(std::span<const SourceEntry> entries, char* to) {
    if constexpr (kFinder == Finder::kTags) {
      for (const SourceEntry& entry : entries) *to++ = static_cast<char>(tag_of(entry.hash));
    }
    if constexpr (kFinder == Finder::kHash) {
      const std::size_t buckets = finder_bytes(entries.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        std::size_t at = fast_range(remix(entries[i].hash), buckets);
        while (to[at] != 0) at = at + 1 == buckets ? 0 : at + 1;
        to[at] = static_cast<char>(i + 1);
      }
    }
  }

  /// How many of the entries fit: the prefix shrinks as entries are added, so every addition looks at all of them.
  static std::size_t count_that_fits(std::span<const SourceEntry> entries, std::uint64_t base) {
    std::size_t whole_keys = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const SourceEntry& entry = entries[i];
      whole_keys += entry.key.size();
      others += 2 + kHeadBytes + entry.value.size() + varint_bytes(entry.key.size()) +
                varint_bytes(sequence_and_kind(entry, base));
      const std::size_t prefix = common_prefix(entries.front().key, entry.key);
      const std::size_t keys = whole_keys - i * prefix - kHeadBytes * (i + 1);
      if (i > 0 && kHeaderBytes + finder_bytes(i + 1) + others + keys + kTrailerBytes > kBlockBytes) return i;
    }
    return entries.size();
  }
};

/// Appends one block of the first entries that fit; returns how many.
template <Finder kFinder, bool kHeads>
std::size_t PrefixBlock<kFinder, kHeads>::build(std::span<const SourceEntry> entries, std::string& to) {
  std::uint64_t base = entries.front().sequence;
  for (const SourceEntry& entry : entries) base = std::min(base, entry.sequence);
  const std::size_t count = count_that_fits(entries, base);
  entries = entries.first(count);
  // A single entry keeps its key, so that it begins near the front however long the key is.
  const std::size_t prefix = count == 1 ? 0 : common_prefix(entries.front().key, entries.back().key);
  const std::size_t start = to.size();
  to.resize(start + kHeaderBytes + finder_bytes(count) + (2 + kHeadBytes) * count);
  store_le(to.data() + start, static_cast<std::uint16_t>(count));
  store_le(to.data() + start + 2, static_cast<std::uint16_t>(prefix));
  store_le(to.data() + start + 4, base);
  write_finder(entries, to.data() + start + kHeaderBytes);
  to += entries.front().key.substr(0, prefix);
  std::size_t heads = start + kHeaderBytes + finder_bytes(count);
  std::size_t offsets = heads + kHeadBytes * count;
  for (const SourceEntry& entry : entries) {
    const std::string_view suffix = entry.key.substr(prefix);
    store_le(to.data() + offsets, static_cast<std::uint16_t>(to.size() - start));
    offsets += 2;
    if constexpr (kHeads) {
      store_le(to.data() + heads, head_of(suffix));
      heads += 2;
    }
    append_varint(to, suffix.size());
    append_varint(to, sequence_and_kind(entry, base));
    to += suffix.substr(std::min(kHeadBytes, suffix.size()));
    to += entry.value;
  }
  return count;
}

}  // namespace tamis::layout
