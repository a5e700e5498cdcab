// The bytes of a data block: docs/decisions/0007-data-block.md has the layout and its rationale.
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

/// The byte of the hash stored for each entry of a block.
constexpr std::uint8_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint8_t>((hash * 0x9e3779b97f4a7c15U) >> 56);
}

/// Vector loads may read this far past the end of a block in memory.
inline constexpr std::size_t kBlockSlackBytes = 64;

/// Builds a block from entries in order.
///
/// Threads: one at a time.
class DataBlockBuilder {
 public:
  /// A block ends before an entry that would make it, uncompressed and with its trailer, exceed `target_bytes` (or
  /// 65,536, the limit of offsets); a single entry may exceed it.
  explicit DataBlockBuilder(std::size_t target_bytes) { set_target(target_bytes); }
  /// For the blocks from now on. Requires that there is no entry.
  void set_target(std::size_t target_bytes);

  [[nodiscard]] bool empty() const { return pending_.empty(); }
  [[nodiscard]] std::size_t entries() const { return pending_.size(); }
  /// Whether the block may also hold this entry. Always true for an empty block.
  [[nodiscard]] bool fits(const Entry& entry) const;
  /// Precondition: fits(entry), in ascending order. Copies key and value.
  void add(const Entry& entry, std::uint64_t hash);
  /// The block without its trailer, valid until the next call; empties the builder. Requires at least one entry.
  std::string_view finish();
  /// The block that was finished last, with this many zeros before its entries. Requires less than a page of them, and
  /// at most 65,536 bytes in all.
  std::string_view pad(std::size_t zeros);

 private:
  /// A pending entry: its key, then its value are in text_.
  struct Pending {
    std::size_t key_at;
    std::size_t key_bytes;
    std::size_t value_bytes;
    Sequence sequence;
    EntryKind kind;
    std::uint8_t tag;
  };
  /// The totals from which the block's size follows.
  struct Totals {
    std::size_t entries = 0;
    std::size_t key_bytes = 0;  ///< Whole keys.
    std::size_t value_bytes = 0;
    std::size_t longest_key = 0;
    std::size_t prefix_bytes = 0;  ///< For one entry: the whole key.
    std::uint64_t lowest_sequence = 0;
    std::uint64_t highest_sequence = 0;
  };
  [[nodiscard]] std::string_view key_of(const Pending& pending) const;
  [[nodiscard]] std::string_view value_of(const Pending& pending) const;
  [[nodiscard]] Totals totals_with(const Entry& entry) const;
  [[nodiscard]] std::size_t exact_bytes(const Totals& totals, const Entry& last) const;
  std::size_t write_block();

  std::size_t target_bytes_ = 0;
  std::vector<Pending> pending_;
  std::string text_;
  Totals totals_;
  std::vector<char> block_;  // At least as long as the block.
  std::size_t finished_bytes_ = 0;
};

/// A checked block in memory, followed by kBlockSlackBytes readable bytes.
///
/// Threads: constant. A value of a pointer and a few numbers; valid as long as the bytes.
class DataBlock {
 public:
  /// Checks everything that the functions below rely on: counts, offsets, lengths, kinds, the order of entries. Bad
  /// bytes are kCorruption, a kind that this build does not know is kNotSupported. `name` and `file_offset` are for the
  /// message.
  static Status check(Bytes block, std::string_view name, std::uint64_t file_offset);
  /// Precondition: check(block) was ok.
  explicit DataBlock(Bytes block)
      : block_(as_text(block).data()),
        block_bytes_(block.size()),
        entries_(load_le<std::uint16_t>(block_)),
        prefix_bytes_(load_le<std::uint16_t>(block_ + data_block::kPrefixLengthAt)),
        base_sequence_(load_le<std::uint64_t>(block_ + data_block::kBaseSequenceAt)) {}

  [[nodiscard]] std::size_t size() const { return entries_; }
  /// The newest version of the key at or below the sequence. With `use_tags` false the hash is ignored (tables of
  /// another hash) and the search uses heads and keys.
  [[nodiscard]] std::optional<FoundEntry> find(const Lookup& lookup, bool use_tags) const;
  /// Prefetches the entry that `find` reads first, according to the tags. Returns its number, or size().
  std::size_t prefetch_entry(const Lookup& lookup) const;
  /// `find` with tags, given the result of prefetch_entry.
  [[nodiscard]] std::optional<FoundEntry> find_prefetched(const Lookup& lookup, std::size_t first_with_tag) const;
  /// Whether the last entry has this key: older versions of it may be in the next block.
  [[nodiscard]] bool ends_with_key(std::string_view key) const;

  /// Number of entries before the position: where a seek lands.
  [[nodiscard]] std::size_t lower_bound(EntryPosition position) const;
  /// Entry i; its key is assembled in `key_buffer`, its value points into the block.
  void load(std::size_t i, std::string& key_buffer, Entry& entry) const;
  /// Entries from `first` on: `count` of them, or as many as have their keys fit `key_buffer`, possibly none. Returns
  /// how many. Overwrites up to kKeySlackBytes behind the keys. An entry may have the kind kInValue.
  std::size_t load_some(std::size_t first, std::size_t count, std::span<char> key_buffer, Entry* entries) const;
  static constexpr std::size_t kKeySlackBytes = 32;

 private:
  struct Stored;
  struct Wanted;
  [[nodiscard]] std::string_view prefix() const;
  /// Whether the key begins with the prefix.
  [[nodiscard]] bool begins(std::string_view key) const;
  [[nodiscard]] std::uint16_t head(std::size_t i) const;
  [[nodiscard]] std::size_t begin_of(std::size_t i) const;
  [[nodiscard]] std::size_t end_of(std::size_t i) const;
  [[nodiscard]] Stored stored(std::size_t i) const;
  [[nodiscard]] std::size_t lower_bound(const Wanted& wanted) const;
  [[nodiscard]] bool match(const Wanted& wanted, std::uint8_t tag, Stored& entry) const;
  struct Problem;
  [[nodiscard]] Problem check_entry(std::size_t i) const;
  static Problem check_pointer(std::string_view bytes);
  static Problem check_value(std::uint8_t kind, std::string_view value);

  const char* block_;
  std::size_t block_bytes_;
  std::size_t entries_;
  std::size_t prefix_bytes_;
  std::uint64_t base_sequence_;
};

}  // namespace tamis
