// Tags as in prefix_block.h, but all keys together in front of all values: a search by key stays within a few lines.
#pragma once

#include <bit>
#include <span>

#include "layout/entry.h"
#include "layout/simd.h"

namespace tamis::layout {

///     0  u16  entries n
///     2  u16  bytes of the common prefix
///     4  u64  base sequence
///    12  u8   n tags
///     …  u16  n offsets of keys, then n offsets of values
///     …       the common prefix; the keys after it; for each entry varint (sequence offset, kind) and value
struct ColumnBlock {
  static constexpr const char* kName = "tags, keys apart";
  static constexpr std::size_t kHeaderBytes = 12;

  struct View {
    explicit View(std::string_view whole)
        : block(whole), count(load_le<std::uint16_t>(whole.data())), prefix(load_le<std::uint16_t>(whole.data() + 2)) {
      keys = block.data() + kHeaderBytes + count;
      values = keys + 2 * count;
    }
    [[nodiscard]] std::string_view prefix_text() const { return {values + 2 * count, prefix}; }
    [[nodiscard]] const char* at(const char* offsets, std::size_t i) const {
      return block.data() + load_le<std::uint16_t>(offsets + 2 * i);
    }
    /// Keys end where the next begins; the first value's offset follows the last key's in memory.
    [[nodiscard]] std::string_view suffix(std::size_t i) const {
      const char* begin = at(keys, i);
      return {begin, static_cast<std::size_t>(at(keys, i + 1) - begin)};
    }
    [[nodiscard]] std::string_view value(std::size_t i) const {
      const char* begin = at(values, i);
      take_varint(begin);
      const char* end = i + 1 < count ? at(values, i + 1) : block.data() + block.size();
      return {begin, static_cast<std::size_t>(end - begin)};
    }

    std::string_view block;
    std::size_t count;
    std::size_t prefix;
    const char* keys;
    const char* values;
  };

  static std::size_t lower_bound(const View& view, std::string_view suffix) {
    std::size_t low = 0;
    for (std::size_t size = view.count; size > 0;) {
      const std::size_t half = size / 2;
      if (view.suffix(low + half) < suffix) {
        low += half + 1;
        size -= half + 1;
      } else {
        size = half;
      }
    }
    return low;
  }

  static Found find(std::string_view block, std::string_view key, std::uint64_t hash) {
    const View view(block);
    if (!key.starts_with(view.prefix_text())) return {};
    const std::string_view suffix = key.substr(view.prefix);
    for (std::size_t begin = 0; begin < view.count; begin += 64) {
      std::uint64_t bits = kSimd.match_bytes(view.block.data() + kHeaderBytes + begin, tag_of(hash));
      if (view.count - begin < 64) bits &= (std::uint64_t{1} << (view.count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const std::size_t i = begin + static_cast<std::size_t>(std::countr_zero(bits));
        // Asked for before the key is compared: nearly every match is the right one.
        __builtin_prefetch(view.at(view.values, i));
        if (view.suffix(i) != suffix) continue;
        const std::string_view value = view.value(i);
        return {value.data(), value.size()};
      }
    }
    return {};
  }

  class Cursor {
   public:
    explicit Cursor(std::string_view block) : view_(block) { key_.set(0, view_.prefix_text().data(), view_.prefix); }
    [[nodiscard]] bool valid() const { return at_ < view_.count; }
    [[nodiscard]] std::string_view key() const { return key_.view(); }
    [[nodiscard]] std::string_view value() const { return value_; }

    void first() { go_to(0); }
    void next() { go_to(at_ + 1); }
    void seek(std::string_view wanted) {
      const int order = wanted.substr(0, view_.prefix).compare(view_.prefix_text());
      if (order != 0) return go_to(order < 0 ? 0 : view_.count);
      go_to(lower_bound(view_, wanted.substr(view_.prefix)));
    }

   private:
    void go_to(std::size_t at) {
      at_ = at;
      if (!valid()) return;
      const std::string_view suffix = view_.suffix(at);
      key_.set(view_.prefix, suffix.data(), suffix.size());
      value_ = view_.value(at);
    }

    View view_;
    std::size_t at_ = 0;
    KeyBuffer key_;
    std::string_view value_;
  };

  static std::size_t build(std::span<const SourceEntry> entries, std::string& to) {
    std::uint64_t base = entries.front().sequence;
    for (const SourceEntry& entry : entries) base = std::min(base, entry.sequence);
    const std::size_t count = count_that_fits(entries, base);
    entries = entries.first(count);
    const std::size_t prefix = count == 1 ? 0 : common_prefix(entries.front().key, entries.back().key);
    const std::size_t start = to.size();
    to.resize(start + kHeaderBytes + 5 * count);
    store_le(to.data() + start, static_cast<std::uint16_t>(count));
    store_le(to.data() + start + 2, static_cast<std::uint16_t>(prefix));
    store_le(to.data() + start + 4, base);
    to += entries.front().key.substr(0, prefix);
    std::size_t offset_at = start + kHeaderBytes + count;
    const auto note_offset = [&] {
      store_le(to.data() + offset_at, static_cast<std::uint16_t>(to.size() - start));
      offset_at += 2;
    };
    for (std::size_t i = 0; i < count; ++i) {
      to[start + kHeaderBytes + i] = static_cast<char>(tag_of(entries[i].hash));
      note_offset();
      to += entries[i].key.substr(prefix);
    }
    for (const SourceEntry& entry : entries) {
      note_offset();
      append_varint(to, sequence_and_kind(entry, base));
      to += entry.value;
    }
    return count;
  }

 private:
  static std::size_t count_that_fits(std::span<const SourceEntry> entries, std::uint64_t base) {
    std::size_t whole_keys = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const SourceEntry& entry = entries[i];
      whole_keys += entry.key.size();
      others += 5 + entry.value.size() + varint_bytes(sequence_and_kind(entry, base));
      const std::size_t keys = whole_keys - i * common_prefix(entries.front().key, entry.key);
      if (i > 0 && kHeaderBytes + others + keys + kTrailerBytes > kBlockBytes) return i;
    }
    return entries.size();
  }
};

}  // namespace tamis::layout
