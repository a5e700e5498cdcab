#include "table/table_iterator.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "table/block_file.h"
#include "table/table.h"

namespace tamis {

Status BlockWindow::read(const ReadableFile& file, const IndexPart& part, std::uint32_t block, std::string_view name) {
  const bool goes_back = last_block_ == std::int64_t{block} + 1;
  const bool goes_on = last_block_ == std::int64_t{block} - 1;
  const BlockPosition wanted = part.position(block);
  ahead_bytes_ = goes_on || goes_back ? std::min(std::max<std::uint64_t>(2 * ahead_bytes_, wanted.bytes), kMaxBytes)
                                      : wanted.bytes;
  std::uint64_t begin = wanted.offset;
  std::uint64_t end = wanted.offset + wanted.bytes;
  while (goes_back && block > part.first_block() && end - part.position(block - 1).offset <= ahead_bytes_) {
    begin = part.position(--block).offset;
  }
  while (!goes_back && block + 1 < part.end_block()) {
    const BlockPosition next = part.position(++block);
    if (next.offset + next.bytes - begin > ahead_bytes_) break;
    end = next.offset + next.bytes;
  }
  bytes_ = 0;  // Empty if the read fails.
  buffer_.resize(static_cast<std::size_t>(end - begin));
  TAMIS_TRY(const std::size_t there, file.read_at(begin, buffer_));
  if (there != buffer_.size()) {
    return Status::corruption(
        fmt::format("{}: block at offset {}: the file ends after {} bytes of {}", name, begin, there, buffer_.size()));
  }
  offset_ = begin;
  bytes_ = end - begin;
  return {};
}

void TableIterator::seek(EntryPosition target) {
  if (Status opened = open_index(); !opened.ok()) return show_failure(std::move(opened));
  if (prepared_block_ == kNoBlock) {
    if (Status located = locate(target); !located.ok()) return show_failure(std::move(located));
  }
  std::uint32_t block = std::exchange(prepared_block_, kNoBlock);
  ready_ = kFirstReady;
  for (;; ++block) {
    if (Status opened = open_block(block); !opened.ok()) return show_failure(std::move(opened));
    const std::size_t at = data_->lower_bound(target);
    if (at < data_->size()) return show_entries(at, ready_);
    if (block + 1 == blocks()) return show_end();
  }
}

/// Prefetches the head of the block, so that its lines arrive together. The seek reports failures.
void TableIterator::prepare_seek(EntryPosition target) {
  if (!open_index().ok() || !locate(target).ok()) return;
  prefetch(prepared_block_, kHeadLines);
}

void TableIterator::seek_to_first() {
  if (Status opened = open_index(); !opened.ok()) return show_failure(std::move(opened));
  ready_ = kFirstReady;
  to_block_begin(0);
}

void TableIterator::seek_to_last() {
  if (Status opened = open_index(); !opened.ok()) return show_failure(std::move(opened));
  to_block_end(blocks() - 1);
}

void TableIterator::next() {
  TAMIS_INVARIANT(valid());
  if (has_ready()) return step();
  ready_ = std::min(2 * ready_, kMaxReady);
  const std::size_t after = at() + 1;
  if (after < data_->size()) {
    prefetch_ahead();
    return show_entries(after, ready_);
  }
  if (block_ + 1 == blocks()) return show_end();
  to_block_begin(block_ + 1);
}

void TableIterator::previous() {
  TAMIS_INVARIANT(valid());
  if (const std::size_t here = at(); here > 0) return show_entries(here - 1, 1);
  if (block_ == 0) return show_end();
  to_block_end(block_ - 1);
}

void TableIterator::to_block_begin(std::uint32_t block) {
  if (Status opened = open_block(block); !opened.ok()) return show_failure(std::move(opened));
  show_entries(0, ready_);
}

void TableIterator::to_block_end(std::uint32_t block) {
  if (Status opened = open_block(block); !opened.ok()) return show_failure(std::move(opened));
  show_entries(data_->size() - 1, 1);
}

/// This many, or as many as the block and the key buffer allow.
void TableIterator::show_entries(std::size_t first, std::size_t count) {
  first_ = first;
  std::size_t loaded = data_->load_some(first, std::min(count, data_->size() - first), keys_, entries_.data());
  if (loaded == 0) [[unlikely]] {
    data_->load(first, long_key_, entries_[0]);
    loaded = 1;
  }
  show_ready(entries_.data(), entries_.data() + loaded - 1);
}

/// Before more entries are made ready, prefetches what follows them in this block and, once iteration has gone on for a
/// while, the start of the next block.
void TableIterator::prefetch_ahead() {
  const char* const behind = entry().value.data() + entry().value.size();
  for (std::size_t i = 0; i < kLinesAhead; ++i) __builtin_prefetch(behind + i * kCacheLineBytes);
  if (prefetched_block_ == block_ + 1 || ready_ < kMaxReady || block_ + 1 == blocks()) return;
  prefetched_block_ = block_ + 1;
  prefetch(prefetched_block_, kHeadLines + kLinesAhead);
}

/// Prefetches the frame and the first lines of a block if it is cached.
void TableIterator::prefetch(std::uint32_t block, std::size_t lines) const {
  const BlockSlot* const slot = table_.slot_of(block);
  if (slot == nullptr) return;
  const auto* const frame = reinterpret_cast<const char*>(slot->load(std::memory_order_relaxed));
  if (frame == nullptr) return;
  for (std::size_t i = 0; i < lines; ++i) __builtin_prefetch(frame + i * kCacheLineBytes);
}

void TableIterator::show_failure(Status error) {
  block_ = kNoBlock;
  data_.reset();
  show_error(std::move(error));
}

std::uint32_t TableIterator::blocks() const { return static_cast<std::uint32_t>(table_.facts().blocks); }

Status TableIterator::open_index() {
  if (part_.is_open()) return {};
  std::uint32_t metadata_reads = 0;
  TAMIS_TRY(part_, table_.open_index(caching_.fills_cache(), metadata_reads));
  return {};
}

Status TableIterator::enter_part(std::uint32_t number) {
  std::uint32_t metadata_reads = 0;
  return table_.enter_part(part_, number, caching_.fills_cache(), metadata_reads);
}

Status TableIterator::locate(EntryPosition target) {
  if (!part_.is_whole()) TAMIS_TRY_STATUS(enter_part(part_.top->locate(target.key)));
  prepared_block_ = part_.locate(target.key);
  return {};
}

/// Blocks hold at least one entry: DataBlock::check ensures it.
Status TableIterator::open_block(std::uint32_t block) {
  if (block == block_) return {};
  data_.reset();
  block_ = kNoBlock;
  pin_ = table_.find_block(block);
  if (opened_ != nullptr) ++(pin_ ? opened_->cached : opened_->read);
  if (!pin_) {
    TAMIS_TRY(own_frame_, read_block(block));
    if (caching_.fills_cache()) pin_ = table_.keep_block(block, std::move(own_frame_), true);
  }
  data_.emplace(block_of(pin_ ? pin_.bytes() : Bytes(own_frame_.span())));
  block_ = block;
  return {};
}

Result<BlockBuffer> TableIterator::read_block(std::uint32_t block) {
  const std::string name = table_.path();
  if (!part_.is_whole()) TAMIS_TRY_STATUS(enter_part(block / std::uint32_t{kIndexGroupBlocks}));
  const BlockPosition position = part_.position(block);
  if (!window_.holds(position)) {
    TAMIS_TRY(const std::shared_ptr<const ReadableFile> file, table_.open_file());
    TAMIS_TRY_STATUS(window_.read(*file, part_, block, name));
  }
  const std::uint64_t number = table_.facts().written_number();
  TAMIS_TRY(BlockBuffer frame, tamis::open_block(window_.use(block, position), number, position.offset, name));
  TAMIS_TRY_STATUS(DataBlock::check(block_of(frame.span()), name, position.offset));
  return frame;
}

}  // namespace tamis
