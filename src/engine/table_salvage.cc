#include "engine/table_salvage.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/try.h"
#include "table/block_file.h"
#include "table/data_block_format.h"
#include "table/table_format.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

constexpr std::size_t kMostBlockBytes = 1 << 17;  // Of blocks that are looked for without an index.

/// A table's blocks, one after the other.
///
/// Threads: one.
class Salvage {
 public:
  Salvage(const ReadableFile& file, std::string path, std::uint64_t number,
          const std::function<Status(const Entry&)>& take, std::vector<Problem>& lost)
      : file_(file), path_(std::move(path)), number_(number), take_(take), lost_(lost) {}

  Status by_index(const Index& index) {
    for (std::uint32_t block = 0; block < index.blocks(); ++block) {
      const BlockPosition position = index.position(block);
      Result<AlignedBytes> frame = read_block(file_, position, number_, path_);
      if (frame.ok()) {
        TAMIS_TRY_STATUS(take_all(*frame));
      } else {
        lost_.push_back({path_, position.offset, std::string(frame.status().message())});
      }
    }
    return {};
  }

  /// Ends at the first place where no block begins: what follows the blocks, or damage.
  Status by_looking() {
    std::uint64_t offset = kTableHeaderBytes;
    while (true) {
      TAMIS_TRY(const std::optional<std::uint32_t> bytes, find_block(offset));
      if (!bytes) break;
      Result<AlignedBytes> frame = read_block(file_, {offset, *bytes}, number_, path_);
      if (!frame.ok()) break;
      TAMIS_TRY_STATUS(take_all(*frame));
      offset += *bytes;
    }
    lost_.push_back({path_, offset, "the index cannot be read, and no block follows here"});
    return {};
  }

 private:
  Status take_all(const AlignedBytes& frame) {
    const DataBlock block(block_of(frame.span()));
    for (std::size_t i = 0; i < block.size(); ++i) {
      Entry entry;
      block.load(i, key_, entry);
      if (last_ && entry.position() <= EntryPosition{last_key_, *last_}) continue;  // A block that was found twice.
      TAMIS_TRY_STATUS(take_(entry));
      last_key_ = entry.key;
      last_ = entry.sequence;
    }
    return {};
  }

  /// How long the block at this offset is: the first length whose trailer fits it. A trailer says the length before
  /// compression, so that most wrong ones are seen without a checksum.
  Result<std::optional<std::uint32_t>> find_block(std::uint64_t offset) {
    buffer_.resize(kMostBlockBytes);
    TAMIS_TRY(const std::size_t count, file_.read_at(offset, std::as_writable_bytes(std::span(buffer_))));
    const std::uint64_t seed = block_checksum_seed(number_, offset);
    for (std::size_t bytes = kBlockTrailerBytes + 1; bytes <= count; ++bytes) {
      const char* trailer = buffer_.data() + bytes - kBlockTrailerBytes;
      const auto codec = static_cast<std::uint8_t>(trailer[0]);
      const auto length = load_le<std::uint32_t>(trailer + 1);
      const std::size_t stored = bytes - kBlockTrailerBytes;
      if (find_codec(codec) == nullptr || (codec == 0 ? length != stored : length <= stored)) continue;
      if (verify_block_trailer(as_bytes(std::string_view(buffer_).substr(0, bytes)), seed, path_, offset).ok()) {
        return std::optional(static_cast<std::uint32_t>(bytes));
      }
    }
    return std::optional<std::uint32_t>();
  }

  const ReadableFile& file_;
  const std::string path_;
  const std::uint64_t number_;
  const std::function<Status(const Entry&)>& take_;
  std::vector<Problem>& lost_;
  std::string buffer_;
  std::string key_;
  std::string last_key_;
  std::optional<Sequence> last_;
};

}  // namespace

Status salvage_entries(FileSystem& files, const std::string& path, std::uint64_t table_number,
                       const std::function<Status(const Entry&)>& take, std::vector<Problem>& lost) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
  Salvage salvage(*file, path, table_number, take, lost);
  if (const Result<TableProperties> properties = read_properties(*file, path); properties.ok()) {
    const Result<std::unique_ptr<const Index>> index = read_index(*file, *properties, path);
    if (index.ok()) return salvage.by_index(**index);
  }
  return salvage.by_looking();
}

}  // namespace tamis
