#include "engine/table_salvage.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/try.h"
#include "engine/repair_problem.h"
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/table_format.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

constexpr std::size_t kWindowBytes = 1 << 18;
/// Of a compressed block that begins nobody knows where: every beginning in this distance is tried.
constexpr std::uint64_t kMostCompressedBytes = 1 << 16;

/// A table's blocks, one after the other.
///
/// Threads: one.
class Salvage {
 public:
  Salvage(const ReadableFile& file, const std::string& path, std::uint64_t number,
          const std::function<Status(const Entry&)>& take, std::vector<Problem>& lost)
      : file_(file), path_(path), number_(number), take_(take), lost_(lost) {}

  Status by_index(const Index& index) {
    for (std::uint32_t block = 0; block < index.blocks(); ++block) {
      const BlockPosition position = index.position(block);
      Result<BlockBuffer> frame = read_block(file_, position, number_, path_);
      if (frame.ok()) {
        TAMIS_TRY_STATUS(take_all(*frame));
      } else if (!is_damage(frame.status())) {
        return frame.status();
      } else {
        lost_.push_back(problem_of(path_, position.offset, frame.status()));
      }
    }
    return {};
  }

  /// `end` is where the blocks end, if that is known: otherwise what follows the last one may be damage or not.
  Status by_looking(std::uint64_t file_bytes, std::optional<std::uint64_t> end) {
    std::uint64_t offset = kTableHeaderBytes;
    while (offset < end.value_or(file_bytes)) {
      const std::optional<BlockPosition> block = find_block(offset, end.value_or(file_bytes));
      if (!block) break;
      Result<BlockBuffer> frame = read_block(file_, *block, number_, path_);
      if (block->offset != offset || !frame.ok()) {
        lost_.push_back({file_name_of(path_), offset, fmt::format("no block can be read before {}", block->offset)});
      }
      if (frame.ok()) TAMIS_TRY_STATUS(take_all(*frame));
      offset = block->offset + block->bytes;
    }
    if (end != offset) {
      lost_.push_back({file_name_of(path_), offset,
                       offset == kTableHeaderBytes ? "no block can be read"
                                                   : "no further block can be read; there may have been more"});
    }
    return {};
  }

 private:
  Status take_all(const BlockBuffer& frame) {
    const DataBlock block(block_of(frame.span()));
    for (std::size_t i = 0; i < block.size(); ++i) {
      Entry entry;
      block.load(i, key_, entry);
      if (last_ && entry.position() <= EntryPosition{last_key_, *last_}) continue;
      TAMIS_TRY_STATUS(take_(entry));
      last_key_ = entry.key;
      last_ = entry.sequence;
    }
    return {};
  }

  /// The first block that ends at or after `offset` and begins there or later. Trailers are looked for: one says the
  /// length before compression, so that most bytes that are none are seen without a checksum.
  std::optional<BlockPosition> find_block(std::uint64_t offset, std::uint64_t end) {
    for (std::uint64_t trailer = offset + 1; trailer + kBlockTrailerBytes <= end; ++trailer) {
      const std::string_view bytes = bytes_at(trailer, kBlockTrailerBytes);
      if (bytes.empty()) continue;  // A place that the disk does not give.
      const auto codec = static_cast<std::uint8_t>(bytes[0]);
      const auto length = load_le<std::uint32_t>(bytes.data() + 1);
      if (length == 0 || find_codec(codec) == nullptr) continue;
      if (codec == 0) {
        if (length <= trailer - offset && is_block(trailer - length, trailer)) {
          return BlockPosition{trailer - length, static_cast<std::uint32_t>(length + kBlockTrailerBytes)};
        }
        continue;
      }
      const std::uint64_t longest = std::min<std::uint64_t>({trailer - offset, length, kMostCompressedBytes});
      for (std::uint64_t stored = longest; stored > 0; --stored) {
        if (is_block(trailer - stored, trailer)) {
          return BlockPosition{trailer - stored, static_cast<std::uint32_t>(stored + kBlockTrailerBytes)};
        }
      }
    }
    return {};
  }

  [[nodiscard]] bool is_block(std::uint64_t begin, std::uint64_t trailer) {
    const std::string_view stored = bytes_at(begin, static_cast<std::size_t>(trailer - begin) + kBlockTrailerBytes);
    const std::uint64_t seed = block_checksum_seed(number_, begin);
    return !stored.empty() && verify_block_trailer(as_bytes(stored), seed, path_, begin).ok();
  }

  /// Nothing when they cannot be read.
  std::string_view bytes_at(std::uint64_t offset, std::size_t bytes) {
    if (offset < window_at_ || offset + bytes > window_at_ + window_.size()) {
      window_at_ = offset - std::min<std::uint64_t>(offset, kMostCompressedBytes);
      window_.resize(std::max(kWindowBytes, static_cast<std::size_t>(offset - window_at_) + bytes));
      const Result<std::size_t> count = file_.read_at(window_at_, std::as_writable_bytes(std::span(window_)));
      window_.resize(count.ok() ? *count : 0);
      if (offset + bytes > window_at_ + window_.size()) return {};
    }
    return std::string_view(window_).substr(static_cast<std::size_t>(offset - window_at_), bytes);
  }

  const ReadableFile& file_;
  const std::string& path_;
  const std::uint64_t number_;
  const std::function<Status(const Entry&)>& take_;
  std::vector<Problem>& lost_;
  std::string window_;
  std::uint64_t window_at_ = 0;
  std::string key_;
  std::string last_key_;
  std::optional<Sequence> last_;
};

}  // namespace

Status salvage_entries(FileSystem& files, const std::string& path, std::uint64_t table_number,
                       const std::function<Status(const Entry&)>& take, std::vector<Problem>& lost) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
  TAMIS_TRY(const std::uint64_t file_bytes, file->size());
  Salvage salvage(*file, path, table_number, take, lost);
  const Result<TableProperties> properties = read_properties(*file, path);
  if (!properties.ok()) return salvage.by_looking(file_bytes, {});
  const Result<std::unique_ptr<const Index>> index = read_index(*file, *properties, path);
  if (index.ok()) return salvage.by_index(**index);
  return salvage.by_looking(file_bytes, properties->filter.offset);
}

}  // namespace tamis
