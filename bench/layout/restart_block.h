// The textbook block: keys as differences from the one before, every sixteenth whole, found by binary search over the
// whole ones and a walk.
#pragma once

#include <span>

#include "layout/entry.h"

namespace tamis::layout {

///     0  u64  base sequence
///     8       entries: varint shared, varint rest, varint (sequence offset, kind), varint value bytes, rest, value
///     …  u16  offsets of the whole keys, then their number
struct RestartBlock {
  static constexpr const char* kName = "restarts of 16";
  static constexpr std::size_t kInterval = 16;

  static std::size_t build(std::span<const SourceEntry> entries, std::string& to) {
    const std::size_t start = to.size();
    std::string restarts;
    append_le(to, entries.front().sequence);
    for (const SourceEntry& entry : entries) store_lowest(to.data() + start, entry.sequence);
    const auto base = load_le<std::uint64_t>(to.data() + start);
    std::size_t count = 0;
    for (; count < entries.size(); ++count) {
      const SourceEntry& entry = entries[count];
      const bool whole = count % kInterval == 0;
      const std::size_t shared = whole ? 0 : common_prefix(entries[count - 1].key, entry.key);
      const std::size_t undo = to.size();
      append_varint(to, shared);
      append_varint(to, entry.key.size() - shared);
      append_varint(to, sequence_and_kind(entry, base));
      append_varint(to, entry.value.size());
      to += entry.key.substr(shared);
      to += entry.value;
      const std::size_t tail = restarts.size() + (whole ? 2 : 0) + 2;
      if (count > 0 && to.size() - start + tail + kTrailerBytes > kBlockBytes) {
        to.resize(undo);
        break;
      }
      if (whole) append_le(restarts, static_cast<std::uint16_t>(undo - start));
    }
    to += restarts;
    append_le(to, static_cast<std::uint16_t>(restarts.size() / 2));
    return count;
  }

  class Cursor {
   public:
    explicit Cursor(std::string_view block) : block_(block), end_(block.data() + block.size() - 2) {
      restart_count_ = load_le<std::uint16_t>(end_);
      end_ -= std::size_t{2} * restart_count_;
    }
    [[nodiscard]] bool valid() const { return valid_; }
    [[nodiscard]] std::string_view key() const { return key_.view(); }
    [[nodiscard]] std::string_view value() const { return value_; }

    void first() { go_to(block_.data() + 8); }
    void next() { go_to(value_.data() + value_.size()); }
    /// To the first entry at or after `wanted`.
    void seek(std::string_view wanted) {
      std::size_t low = 0;
      std::size_t high = restart_count_;
      while (high - low > 1) {
        const std::size_t middle = (low + high) / 2;
        if (whole_key(middle) < wanted) {
          low = middle;
        } else {
          high = middle;
        }
      }
      for (go_to(restart(low)); valid_ && key() < wanted;) next();
    }

   private:
    [[nodiscard]] const char* restart(std::size_t number) const {
      return block_.data() + load_le<std::uint16_t>(end_ + 2 * number);
    }
    [[nodiscard]] std::string_view whole_key(std::size_t number) const {
      const char* at = restart(number) + 1;
      const std::uint64_t size = take_varint(at);
      take_varint(at);
      take_varint(at);
      return {at, size};
    }
    void go_to(const char* at) {
      valid_ = at < end_;
      if (!valid_) return;
      const std::uint64_t shared = take_varint(at);
      const std::uint64_t rest = take_varint(at);
      take_varint(at);
      const std::uint64_t value_bytes = take_varint(at);
      key_.set(shared, at, rest);
      value_ = {at + rest, value_bytes};
    }

    std::string_view block_;
    const char* end_;
    std::size_t restart_count_;
    bool valid_ = false;
    KeyBuffer key_;
    std::string_view value_;
  };

  static Found find(std::string_view block, std::string_view key, std::uint64_t /*hash*/) {
    Cursor cursor(block);
    cursor.seek(key);
    if (!cursor.valid() || cursor.key() != key) return {};
    return {cursor.value().data(), cursor.value().size()};
  }

 private:
  static void store_lowest(char* at, std::uint64_t sequence) {
    if (sequence < load_le<std::uint64_t>(at)) store_le(at, sequence);
  }
};

}  // namespace tamis::layout
