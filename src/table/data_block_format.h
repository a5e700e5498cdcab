// The bytes of a data block: docs/decisions/0007-data-block.md has the layout and its reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "entry/entry.h"
#include "table/data_block_layout_format.h"
#include "tamis/status.h"

namespace tamis {

/// The one byte of the hash that stands in a block for each entry.
constexpr std::uint8_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint8_t>((hash * 0x9e3779b97f4a7c15U) >> 56);
}

/// Vector loads go this far past the end of a block in memory.
inline constexpr std::size_t kBlockSlackBytes = 64;

/// Collects entries in order and makes a block of them.
///
/// Threads: one at a time.
class DataBlockBuilder {
 public:
  /// A block ends before an entry with which it, uncompressed and with its trailer, would exceed `target_bytes` (or
  /// 65,536, where offsets end); a single entry may.
  explicit DataBlockBuilder(std::size_t target_bytes);

  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] std::size_t entries() const { return pending_.size(); }
  /// Whether the block may hold this entry too. Always true of an empty block.
  [[nodiscard]] bool fits(const Entry& entry) const;
  /// Precondition: fits(entry), and it comes after the ones before. Copies key and value.
  void add(const Entry& entry, std::uint64_t hash);
  /// The block, valid until the next call, without its trailer; the builder is empty afterwards. Not for no entries.
  std::string_view finish();

 private:
  /// An entry that waits: its key, then its value are in text_.
  struct Pending {
    std::size_t key_at;
    std::size_t key_bytes;
    std::size_t value_bytes;
    Sequence sequence;
    EntryKind kind;
    std::uint8_t tag;
  };
  /// What of all entries the size of their block follows from.
  struct Totals {
    std::size_t entries = 0;
    std::size_t key_bytes = 0;  ///< Whole keys.
    std::size_t value_bytes = 0;
    std::size_t longest_key = 0;
    std::size_t prefix_bytes = 0;  ///< Of one entry: the whole key.
    std::uint64_t lowest_sequence = 0;
    std::uint64_t highest_sequence = 0;
  };
  [[nodiscard]] std::string_view key_of(const Pending& pending) const;
  [[nodiscard]] std::string_view value_of(const Pending& pending) const;
  [[nodiscard]] Totals totals_with(const Entry& entry) const;
  [[nodiscard]] std::size_t exact_bytes(const Totals& totals, const Entry& last) const;
  std::size_t write_block();

  std::size_t target_bytes_;
  std::vector<Pending> pending_;
  std::string text_;
  Totals totals_;
  std::vector<char> block_;  // At least as long as the block.
};

/// A block in memory whose bytes were checked, with kBlockSlackBytes readable behind them.
///
/// Threads: constant. A value of a pointer and a few numbers; lives as long as the bytes.
class DataBlock {
 public:
  /// Checks that everything the functions below trust is so: counts, offsets, lengths, kinds, the order of entries.
  /// `name` and `file_offset` are for the message.
  static Status check(Bytes block, std::string_view name, std::uint64_t file_offset);
  /// Precondition: check(block) was ok.
  explicit DataBlock(Bytes block)
      : block_(as_text(block).data()),
        block_bytes_(block.size()),
        entries_(load_le<std::uint16_t>(block_)),
        prefix_bytes_(load_le<std::uint16_t>(block_ + data_block::kPrefixLengthAt)),
        base_sequence_(load_le<std::uint64_t>(block_ + data_block::kBaseSequenceAt)) {}

  [[nodiscard]] std::size_t size() const { return entries_; }
  /// The newest version of the key at or below the sequence. With `use_tags` false the hash is not looked at (tables of
  /// another hash): found by heads and keys.
  [[nodiscard]] std::optional<FoundEntry> find(const Lookup& lookup, bool use_tags) const;
  /// Starts loading the entry that `find` will look at first, as far as tags tell. Returns its number, or size().
  std::size_t prefetch_entry(const Lookup& lookup) const;
  /// `find` with tags, for who has what prefetch_entry returned.
  [[nodiscard]] std::optional<FoundEntry> find_prefetched(const Lookup& lookup, std::size_t first_with_tag) const;
  /// Whether the last entry's key is this one: older versions of it may stand in the next block.
  [[nodiscard]] bool ends_with_key(std::string_view key) const;

  /// Number of entries before the position: where a seek lands.
  [[nodiscard]] std::size_t lower_bound(EntryPosition position) const;
  /// Entry i; its key is put together in `key_buffer`, its value points into the block.
  void load(std::size_t i, std::string& key_buffer, Entry& entry) const;
  /// Entries from `first` on, `count` of them or as many as have room for their keys in `key_buffer`, which may be
  /// none. Returns how many. kKeySlackBytes behind the keys are written to.
  std::size_t load_some(std::size_t first, std::size_t count, std::span<char> key_buffer, Entry* entries) const;
  static constexpr std::size_t kKeySlackBytes = 32;

 private:
  struct Stored;
  struct Wanted;
  [[nodiscard]] std::string_view prefix() const;
  /// Whether the key begins with it.
  [[nodiscard]] bool begins(std::string_view key) const;
  [[nodiscard]] std::uint16_t head(std::size_t i) const;
  [[nodiscard]] std::size_t begin_of(std::size_t i) const;
  [[nodiscard]] std::size_t end_of(std::size_t i) const;
  [[nodiscard]] Stored stored(std::size_t i) const;
  [[nodiscard]] std::size_t lower_bound(const Wanted& wanted) const;
  [[nodiscard]] bool match(const Wanted& wanted, std::uint8_t tag, Stored& entry) const;
  [[nodiscard]] std::string check_entry(std::size_t i) const;

  const char* block_;
  std::size_t block_bytes_;
  std::size_t entries_;
  std::size_t prefix_bytes_;
  std::uint64_t base_sequence_;
};

}  // namespace tamis
