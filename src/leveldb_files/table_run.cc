#include "leveldb_files/table_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"
#include "leveldb_files/internal_key_format.h"

namespace tamis::leveldb {
namespace {

constexpr std::uint64_t kReadAheadBytes = std::uint64_t{128} << 10;

}  // namespace

void TableRun::seek(EntryPosition target) {
  if (!is_started_) {
    is_started_ = true;
    advance();
  }
  while (valid() && entry().position() < target) step();
}

void TableRun::next() {
  if (has_ready()) return show_ready(&entry() + 1, &last_ready());
  advance();
}

void TableRun::seek_to_last() { TAMIS_CHECK(false); }
void TableRun::previous() { TAMIS_CHECK(false); }

void TableRun::advance() {
  const Result<bool> is_there = load_block();
  if (!is_there.ok()) return show_error(is_there.status());
  if (*is_there) return show_ready(&entries_.front(), &entries_.back());
  show_end();
}

/// The next block that has entries; false if there is none.
Result<bool> TableRun::load_block() {
  if (!entries_.empty()) {
    last_key_.assign(entries_.back().key);
    last_sequence_ = entries_.back().sequence;
    entries_.clear();
  }
  while (entries_.empty()) {
    while (next_block_ == blocks_.size()) {
      if (next_table_ == tables_.size()) {
        file_ = nullptr;
        return false;
      }
      TAMIS_TRY_STATUS(open_table(tables_[next_table_]));
      ++next_table_;
    }
    const foreign::BlockHandle handle = blocks_[next_block_++];
    TAMIS_TRY(std::string contents, read_block(handle));
    TAMIS_TRY_STATUS(block_.decode(std::move(contents), table_->path, handle.offset));
    TAMIS_TRY_STATUS(show_block(handle.offset));
    bytes_read_ += handle.size + foreign::kBlockTrailerBytes;
  }
  return true;
}

Status TableRun::open_table(const TableRef& table) {
  table_ = &table;
  window_.clear();
  TAMIS_TRY(file_, files_.open_readable(table.path));
  TAMIS_TRY(const std::uint64_t size, file_->size());
  if (size != table.size || size < kFooterBytes) {
    return Status::corruption(
        fmt::format("{}: at offset {}: the file ends; it should have {} bytes", table.path, size, table.size));
  }
  TAMIS_TRY(const Bytes footer, read(size - kFooterBytes, kFooterBytes));
  TAMIS_TRY(const foreign::BlockHandle index, decode_footer(footer, table.path, size - kFooterBytes));
  TAMIS_TRY(std::string contents, read_block(index));
  BlockEntries entries;
  TAMIS_TRY_STATUS(entries.decode(std::move(contents), table.path, index.offset));
  blocks_.clear();
  next_block_ = 0;
  for (const BlockEntries::KeyValue& entry : entries.entries()) {
    TAMIS_TRY(const foreign::BlockHandle handle,
              foreign::handle_in(entry.value, fmt::format("{}: the index at offset {}", table.path, index.offset)));
    blocks_.push_back(handle);
  }
  return {};
}

/// Through the window, which is moved if necessary.
Result<Bytes> TableRun::read(std::uint64_t offset, std::uint64_t size) {
  const auto in_window = [&] {
    return offset >= window_offset_ && offset - window_offset_ <= window_.size() &&
           size <= window_.size() - (offset - window_offset_);
  };
  if (!in_window()) {
    window_.resize(std::min(std::max(size, kReadAheadBytes), table_->size - offset));
    window_offset_ = offset;
    TAMIS_TRY(const std::size_t there, file_->read_at(offset, std::as_writable_bytes(std::span(window_))));
    window_.resize(there);
    if (!in_window()) {
      return Status::corruption(
          fmt::format("{}: at offset {}: the file has become shorter", table_->path, offset + there));
    }
  }
  return as_bytes(window_).subspan(offset - window_offset_, size);
}

Result<std::string> TableRun::read_block(foreign::BlockHandle handle) {
  const std::uint64_t most = table_->size - kFooterBytes;
  if (handle.offset > most || handle.size > most - handle.offset ||
      foreign::kBlockTrailerBytes > most - handle.offset - handle.size) {
    return Status::corruption(fmt::format("{}: at offset {}: a block of {} bytes reaches into the footer at {}",
                                          table_->path, handle.offset, handle.size, most));
  }
  TAMIS_TRY(const Bytes stored, read(handle.offset, handle.size + foreign::kBlockTrailerBytes));
  return unpack_block(stored, table_->path, handle.offset);
}

/// Makes entries of the block's keys and values, and checks that they ascend.
Status TableRun::show_block(std::uint64_t offset) {
  EntryPosition last = {last_key_, last_sequence_};
  for (const BlockEntries::KeyValue& stored : block_.entries()) {
    const std::optional<Entry> entry = entry_of(stored.internal_key, stored.value);
    if (!entry) {
      return Status::not_supported(fmt::format(
          "{}: the block at offset {} has a key of a kind that LevelDB does not have; if this is a RocksDB folder, use "
          "'tamis import rocksdb'",
          table_->path, offset));
    }
    if (has_last_ && entry->position() <= last) {
      return Status::corruption(
          fmt::format("{}: the block at offset {} has keys that do not ascend", table_->path, offset));
    }
    last = entry->position();
    has_last_ = true;
    entries_.push_back(*entry);
  }
  return {};
}

}  // namespace tamis::leveldb
