// Iterates over a table's entries, block by block.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/block_buffer.h"
#include "cache/block_cache.h"
#include "entry/entry_iterator.h"
#include "entry/entry_room.h"
#include "io/file_system.h"
#include "table/data_block_format.h"
#include "table/index_part.h"
#include "table/scan_caching.h"
#include "tamis/status.h"

namespace tamis {

class Table;

/// Consecutive stored blocks, read in one call: few after a jump, more with each sequential step.
///
/// Threads: one at a time.
class BlockWindow {
 public:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 10;

  [[nodiscard]] bool holds(BlockPosition position) const {
    return position.offset >= offset_ && position.offset + position.bytes <= offset_ + bytes_;
  }
  /// Reads this block and, within the read-ahead, those after it (before it, if the block used last was the next one).
  /// None beyond the part of the index.
  Status read(const ReadableFile& file, const IndexPart& part, std::uint32_t block, std::string_view name);
  /// The stored bytes of a block it holds, trailer included; valid until the next read.
  Bytes use(std::uint32_t block, BlockPosition position) {
    last_block_ = block;
    return Bytes(buffer_).subspan(static_cast<std::size_t>(position.offset - offset_), position.bytes);
  }

 private:
  std::vector<std::byte> buffer_;
  std::uint64_t offset_ = 0;  // Of the buffer's first byte in the file.
  std::uint64_t bytes_ = 0;
  std::uint64_t ahead_bytes_ = 0;  // The maximum of the next read.
  std::int64_t last_block_ = -2;
};

/// How many blocks iterators have opened.
struct BlocksOpened {
  std::uint64_t cached = 0;
  std::uint64_t read = 0;
};

/// EntryIterator over one table. Holds the index and the current block itself, so that both may leave memory or the
/// cache meanwhile.
///
/// Forwards it makes several entries ready at once: two after a seek, because many scans end there, then more.
///
/// Invariants:
///  1. Valid: the shown entry is one of entries_, and entries_[0] is number first_ of the block.
///
/// Threads: one at a time. The table must outlive it.
class TableIterator final : public EntryIterator {
 public:
  /// `opened`, if not null, counts the blocks.
  TableIterator(Table& table, ScanCaching caching, BlocksOpened* opened = nullptr)
      : table_(table), opened_(opened), caching_(caching) {}

  void seek(EntryPosition target) override;
  void seek_to_first() override;
  void seek_to_last() override;
  void next() override;
  void previous() override;
  void prepare_seek(EntryPosition target) override;

 private:
  static constexpr std::uint32_t kNoBlock = 0xffff'ffff;
  static constexpr std::size_t kHeadLines = 6;    // Frame, tags, heads, offsets of a 4 KiB block.
  static constexpr std::size_t kLinesAhead = 12;  // A few entries.
  static constexpr std::size_t kFirstReady = 2;
  static constexpr std::size_t kMaxReady = 8;
  /// For the ready keys; a longer key is shown alone. Not more: glibc allocates objects up to 1,032 bytes fast.
  static constexpr std::size_t kKeyBytes = 192;

  [[nodiscard]] std::uint32_t blocks() const;
  Status open_index();
  Status enter_part(std::uint32_t number);
  Status locate(EntryPosition target);
  Status open_block(std::uint32_t block);
  Result<BlockBuffer> read_block(std::uint32_t block);
  [[nodiscard]] std::size_t at() const { return first_ + static_cast<std::size_t>(&entry() - entries_.data()); }
  void show_entries(std::size_t first, std::size_t count);
  void prefetch_ahead();
  void prefetch(std::uint32_t block, std::size_t lines) const;
  void show_failure(Status error);
  void to_block_begin(std::uint32_t block);
  void to_block_end(std::uint32_t block);

  Table& table_;
  BlocksOpened* const opened_;
  IndexPart part_;  // Not open before the first seek.
  const ScanCaching caching_;
  // The current block: a cached one, or its own.
  std::uint32_t block_ = kNoBlock;
  PinnedBlock pin_;
  BlockBuffer own_frame_;
  BlockWindow window_;
  std::optional<DataBlock> data_;
  std::uint32_t prepared_block_ = kNoBlock;    // Where the next seek begins, if it was prepared.
  std::uint32_t prefetched_block_ = kNoBlock;  // The last block prefetched.
  std::size_t first_ = 0;
  std::size_t ready_ = kFirstReady;
  EntryRoom<kMaxReady> entries_;
  std::array<char, kKeyBytes + DataBlock::kKeySlackBytes> keys_;  // Not initialised.
  std::string long_key_;
};

static_assert(sizeof(TableIterator) <= 896);  // See kKeyBytes; a RunIterator contains one.

}  // namespace tamis
