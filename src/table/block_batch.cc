#include "table/block_batch.h"

#include <utility>

#include "base/try.h"
#include "table/block_file.h"
#include "table/table.h"

namespace tamis {

std::size_t BlockBatch::add(TableSearch& search) {
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i].table == search.table && wanted_[i].number == search.block) return i;
  }
  search.step.source = BlockSource::kDisk;
  ++search.step.blocks_read;
  Wanted wanted;
  wanted.table = search.table;
  wanted.number = search.block;
  wanted.position = search.part.position(search.block);
  wanted_.push_back(std::move(wanted));
  return wanted_.size() - 1;
}

void BlockBatch::read() {
  std::vector<FileRead> reads;
  std::vector<Wanted*> readable;
  for (Wanted& wanted : wanted_) {
    if (Status status = prepare(wanted); !status.ok()) {
      wanted.block = std::move(status);
      continue;
    }
    FileRead read;
    read.file = wanted.file.get();
    read.offset = wanted.position.offset;
    read.to = wanted.frame.span().first(wanted.position.bytes);
    reads.push_back(std::move(read));
    readable.push_back(&wanted);
  }
  if (reads.empty()) return;
  readable.front()->table->handles().read_many(reads);
  for (std::size_t i = 0; i < reads.size(); ++i) readable[i]->block = finish(*readable[i], reads[i].there);
}

Status BlockBatch::prepare(Wanted& wanted) {
  wanted.path = wanted.table->path();
  TAMIS_TRY(wanted.file, wanted.table->open_file());
  TAMIS_TRY(wanted.frame, begin_block(wanted.position, wanted.table->facts().written_number(), wanted.path));
  return {};
}

Result<PinnedBlock> BlockBatch::finish(Wanted& wanted, const Result<std::size_t>& there) const {
  if (!there.ok()) return there.status();
  const std::uint64_t table_number = wanted.table->facts().written_number();
  TAMIS_TRY(BlockBuffer frame,
            finish_block(std::move(wanted.frame), *there, wanted.position, table_number, wanted.path));
  return wanted.table->keep_block(wanted.number, std::move(frame), fills_cache_);
}

}  // namespace tamis
