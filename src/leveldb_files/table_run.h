// The entries of tables that follow each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "entry/entry_iterator.h"
#include "io/file_system.h"
#include "leveldb_files/table_blocks_format.h"

namespace tamis::leveldb {

struct TableRef {
  std::string path;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  std::string smallest;  // Of its first entry: the user key, and the sequence.
  Sequence smallest_sequence = {};

  [[nodiscard]] EntryPosition first() const { return {smallest, smallest_sequence}; }
};

/// Iterates over the entries of tables that do not overlap: one of level 0, or all of another level. It goes forwards
/// only, and a seek back stays where it is. One table is open at a time; its index and one block are in memory, and
/// what was read ahead.
///
/// Everything it shows was checked: checksums, and that entries ascend. After an error it stays where it is.
///
/// Threads: as EntryIterator. `bytes_read` outlives it.
class TableRun final : public EntryIterator {
 public:
  TableRun(FileSystem& files, std::vector<TableRef> tables, std::uint64_t& bytes_read)
      : files_(files), tables_(std::move(tables)), bytes_read_(bytes_read) {}

  void seek(EntryPosition target) override;
  void seek_to_first() override { seek({}); }
  void seek_to_last() override;
  void next() override;
  void previous() override;

 private:
  Result<bool> load_block();
  Status open_table(const TableRef& table);
  Result<Bytes> read(std::uint64_t offset, std::uint64_t size);
  Result<std::string> read_block(foreign::BlockHandle handle);
  Status show_block(std::uint64_t offset);
  void advance();

  FileSystem& files_;
  const std::vector<TableRef> tables_;
  std::uint64_t& bytes_read_;
  bool is_started_ = false;

  // The open table; null before the first and after the last.
  std::unique_ptr<ReadableFile> file_;
  std::size_t next_table_ = 0;
  const TableRef* table_ = nullptr;
  std::string window_;  // Bytes of the file, from this offset.
  std::uint64_t window_offset_ = 0;
  std::vector<foreign::BlockHandle> blocks_;
  std::size_t next_block_ = 0;

  BlockEntries block_;
  std::vector<Entry> entries_;  // Of the block.
  bool has_last_ = false;       // An entry was shown.
  std::string last_key_;        // Of the block before, and its sequence.
  Sequence last_sequence_ = {};
};

}  // namespace tamis::leveldb
