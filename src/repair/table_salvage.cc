#include "repair/table_salvage.h"

#include <fmt/core.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/try.h"
#include "repair/repair_problem.h"
#include "table/block_file.h"
#include "table/block_search.h"
#include "table/data_block_format.h"
#include "table/table_format.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

/// Reads a table block by block.
///
/// Threads: one.
class Salvage {
 public:
  Salvage(const ReadableFile& file, const TableToSalvage& table, const std::function<Status(const Entry&)>& take,
          const std::function<bool(std::uint64_t bytes)>& progress)
      : file_(file), table_(table), take_(take), progress_(progress) {}

  Status by_index(const Index& index) {
    for (std::uint32_t block = 0; block < index.blocks(); ++block) {
      const BlockPosition position = index.position(block);
      Status damage;
      TAMIS_TRY_STATUS(take_block(position, damage));
      if (!damage.ok()) salvaged_.lost.push_back(problem_of(table_.path, position.offset, damage));
      TAMIS_TRY_STATUS(step_to(position.offset + position.bytes));
    }
    return {};
  }

  /// `end` is where the blocks end, if known. Otherwise the rest may be damage, unless all blocks were found.
  Status by_looking(std::uint64_t file_bytes, std::optional<std::uint64_t> end) {
    BlockSearch search(file_, table_.number, kTableHeaderBytes, end.value_or(file_bytes));
    std::uint64_t offset = kTableHeaderBytes;
    std::uint64_t blocks = 0;
    while (table_.facts == nullptr || blocks < table_.facts->blocks) {
      const std::optional<BlockPosition> block = search.next();
      if (!block) break;
      Status damage;
      TAMIS_TRY_STATUS(take_block(*block, damage));
      if (block->offset != offset || !damage.ok()) {
        lose(offset, fmt::format("no block can be read before {}", block->offset));
      }
      blocks += damage.ok() ? 1 : 0;
      offset = block->offset + block->bytes;
      TAMIS_TRY_STATUS(step_to(offset));
    }
    salvaged_.bytes_looked_at += search.looked_at();
    const bool is_all = table_.facts != nullptr && blocks == table_.facts->blocks;
    if (end != offset && !is_all) {
      lose(offset, offset == kTableHeaderBytes ? "no block can be read"
                                               : "no further block can be read; there may have been more");
    }
    return step_to(file_bytes);
  }

  /// All of them or none: they have one checksum.
  Status take_range_deletes(const TableProperties& properties) {
    Result<std::vector<RangeTombstone>> fragments = read_range_deletes(file_, properties, table_.path);
    if (fragments.ok()) {
      salvaged_.range_deletes = *std::move(fragments);
      return {};
    }
    if (!is_damage(fragments.status())) return fragments.status();
    salvaged_.lost.push_back(problem_of(table_.path, properties.range_deletes.offset, fragments.status()));
    return {};
  }

  Salvaged result() && { return std::move(salvaged_); }

 private:
  void lose(std::uint64_t offset, std::string what) {
    salvaged_.lost.push_back({file_name_of(table_.path), offset, std::move(what)});
  }

  Status step_to(std::uint64_t offset) {
    const std::uint64_t bytes = offset - std::exchange(told_, offset);
    if (progress_ && !progress_(bytes)) return Status::closed(table_.path + ": stopped");
    return {};
  }

  /// Sets `damage` if the block cannot be read.
  Status take_block(BlockPosition position, Status& damage) {
    salvaged_.bytes_looked_at += std::uint64_t{2} * position.bytes;  // Read and hashed.
    const Result<BlockBuffer> frame = read_block(file_, position, table_.number, table_.path);
    if (frame.ok()) return take_all(*frame);
    if (!is_damage(frame.status())) return frame.status();
    damage = frame.status();
    return {};
  }

  Status take_all(const BlockBuffer& frame) {
    const DataBlock block(block_of(frame.span()));
    for (std::size_t i = 0; i < block.size(); ++i) {
      Entry entry;
      block.load(i, key_, entry);
      if (last_ && entry.position() <= EntryPosition{last_key_, *last_}) continue;
      TAMIS_TRY_STATUS(take_(entry.plain()));
      ++salvaged_.entries;
      last_key_ = entry.key;
      last_ = entry.sequence;
    }
    return {};
  }

  const ReadableFile& file_;
  const TableToSalvage& table_;
  const std::function<Status(const Entry&)>& take_;
  const std::function<bool(std::uint64_t bytes)>& progress_;
  Salvaged salvaged_;
  std::uint64_t told_ = 0;  // The offset last reported to progress_.
  std::string key_;
  std::string last_key_;
  std::optional<Sequence> last_;
};

}  // namespace

Result<Salvaged> salvage_entries(FileSystem& files, const TableToSalvage& table,
                                 const std::function<Status(const Entry&)>& take,
                                 const std::function<bool(std::uint64_t bytes)>& progress) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(table.path));
  TAMIS_TRY(const std::uint64_t file_bytes, file->size());
  Salvage salvage(*file, table, take, progress);
  const Result<TableProperties> properties = read_properties(*file, table.path);
  std::optional<std::uint64_t> end;
  if (properties.ok()) {
    TAMIS_TRY_STATUS(salvage.take_range_deletes(*properties));
    if (properties->facts.has_range_deletes_alone()) return std::move(salvage).result();
    const Result<std::unique_ptr<const Index>> index = read_index(*file, *properties, table.path);
    if (index.ok()) {
      TAMIS_TRY_STATUS(salvage.by_index(**index));
      return std::move(salvage).result();
    }
    end = properties->filter.offset;
  }
  TAMIS_TRY_STATUS(salvage.by_looking(file_bytes, end));
  return std::move(salvage).result();
}

}  // namespace tamis
