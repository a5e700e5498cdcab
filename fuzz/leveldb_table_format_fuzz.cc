// LevelDB's tables behind their checksums: blocks that the input's footer points to get matching checksums, so that
// mutations reach the index, the metaindex and the filter block. Covers snappy_format.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "filter/formats/table_block_format.h"
#include "tamis/foreign.h"

namespace {

using namespace tamis;
using namespace tamis::foreign;

/// Writes the correct checksum of the block at this handle, if it fits.
void repair(std::string& file, const Result<BlockHandle>& handle) {
  if (!handle.ok() || handle->offset > file.size() || handle->size > file.size() - handle->offset) return;
  const std::size_t type_at = handle->offset + handle->size;
  if (file.size() - type_at < kBlockTrailerBytes) return;
  const Bytes block = as_bytes(file).subspan(handle->offset, handle->size + 1);
  store_le(file.data() + type_at + 1, block_checksum(BlockChecksum::kCrc32c, block));
}

void repair_all(std::string& file) {
  constexpr std::size_t kFooterBytes = 48;
  if (file.size() < kFooterBytes) return;
  store_le(file.data() + file.size() - 8, kLevelDbMagic);
  const std::string footer_bytes = file.substr(file.size() - kFooterBytes);
  ByteReader footer(as_bytes(footer_bytes), "footer");
  const Result<BlockHandle> metaindex = read_handle(footer);
  repair(file, metaindex);
  repair(file, read_handle(footer));
  if (!metaindex.ok()) return;
  const auto entries = read_dictionary({.file = as_bytes(file), .name = "input"}, *metaindex, "metaindex");
  if (!entries.ok()) return;
  for (const auto& [key, value] : *entries) repair(file, handle_in(value, "value"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string file(reinterpret_cast<const char*>(data), size);
  repair_all(file);
  const Result<ForeignFilter> filter = ForeignFilter::from_bytes(as_bytes(file), {.format = "leveldb-table"}, "input");
  if (!filter.ok()) return 0;
  for (const std::string_view key : {"", "a", "user:42", "\xff\xff\xff"}) static_cast<void>(filter->may_contain(key));
  static_cast<void>(filter->info());
  return 0;
}
