// log_records_format, version_edit_format, write_batch_format and table_blocks_format: any bytes are a LevelDB store or
// an error. The first byte says what the input is: a table, a log or a manifest, beside a valid rest. Checksums are
// repaired first, so that mutations get past them.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "filter/formats/foreign_hash.h"
#include "io/memory_file_system.h"
#include "leveldb_files/folder_entries.h"
#include "leveldb_files/table_run.h"

namespace tamis::leveldb {
namespace {

constexpr std::size_t kBlockBytes = 32768;

void put(FileSystem& files, const std::string& path, std::string_view bytes) {
  const auto file = *files.open_writable(path, OpenMode::kReplace);
  const Bytes piece = as_bytes(bytes);
  TAMIS_CHECK(file->write_at(0, std::span(&piece, 1)).ok());
}

/// Gives every fragment of a log its checksum. A zero type would end the reading.
void repair_log(std::string& file) {
  for (std::size_t at = 0; at + 7 <= file.size();) {
    const std::size_t in_block = at % kBlockBytes;
    if (kBlockBytes - in_block < 7) {
      at += kBlockBytes - in_block;
      continue;
    }
    const std::size_t length = load_le<std::uint16_t>(file.data() + at + 4);
    if (length > file.size() - at - 7) return;
    const Bytes checked = as_bytes(file).subspan(at + 6, 1 + length);
    store_le(file.data() + at, foreign::masked_crc32c(foreign::crc32c(checked)));
    at += 7 + length;
  }
}

void repair_block(std::string& file, const Result<foreign::BlockHandle>& handle) {
  if (!handle.ok() || handle->offset > file.size() || handle->size > file.size() - handle->offset) return;
  const std::size_t type_at = handle->offset + handle->size;
  if (file.size() - type_at < foreign::kBlockTrailerBytes) return;
  const Bytes checked = as_bytes(file).subspan(handle->offset, handle->size + 1);
  store_le(file.data() + type_at + 1, foreign::block_checksum(foreign::BlockChecksum::kCrc32c, checked));
}

/// The index first, then the blocks that it names.
void repair_table(std::string& file) {
  if (file.size() < kFooterBytes) return;
  store_le(file.data() + file.size() - 8, foreign::kLevelDbMagic);
  const std::string footer = file.substr(file.size() - kFooterBytes);
  const Result<foreign::BlockHandle> index = decode_footer(as_bytes(footer), "footer", 0);
  repair_block(file, index);
  if (!index.ok() || index->offset > file.size() || index->size > file.size() - index->offset) return;
  if (file.size() - index->offset - index->size < foreign::kBlockTrailerBytes) return;
  const Bytes stored = as_bytes(file).subspan(index->offset, index->size + foreign::kBlockTrailerBytes);
  Result<std::string> contents = unpack_block(stored, "index", 0);
  BlockEntries entries;
  if (!contents.ok() || !entries.decode(*std::move(contents), "index", 0).ok()) return;
  for (const auto& entry : entries.entries()) repair_block(file, foreign::handle_in(entry.value, "index"));
}

/// Keys ascend, whatever the bytes are.
void read_folder(FileSystem& files) {
  auto entries = FolderEntries::open(files, "/old");
  if (!entries.ok()) return;
  std::string last;
  for (bool is_first = true; (*entries)->next(); is_first = false) {
    const VisibleIterator& at = (*entries)->at();
    TAMIS_CHECK(is_first || last < at.key());
    last = at.key();
    if (!at.value().empty()) static_cast<void>(at.value().back());
  }
}

void read_table(const std::string& bytes) {
  MemoryFileSystem files;
  put(files, "/table", bytes);
  std::uint64_t bytes_read = 0;
  TableRun run(files, {{.path = "/table", .number = 1, .size = bytes.size(), .smallest = {}}}, bytes_read);
  for (run.seek_to_first(); run.valid(); run.step()) static_cast<void>(run.entry().value.size());
  TAMIS_CHECK(bytes_read <= bytes.size() * (bytes.size() + 1));
}

std::string fragment(std::string_view record) {
  std::string bytes(4, '\0');
  append_le(bytes, static_cast<std::uint16_t>(record.size()));
  return bytes + '\x01' + std::string(record);
}

/// Comparator, log 2, next file 9, last sequence 99.
constexpr std::string_view kManifest("\x01\x1aleveldb.BytewiseComparator\x02\x02\x03\x09\x04\x63", 34);

void read_log(std::string log, std::string manifest) {
  repair_log(log);
  repair_log(manifest);
  MemoryFileSystem files;
  TAMIS_CHECK(files.make_directory("/old").ok());
  put(files, "/old/CURRENT", "MANIFEST-000001\n");
  put(files, "/old/MANIFEST-000001", manifest);
  put(files, "/old/000002.log", log);
  read_folder(files);
}

}  // namespace
}  // namespace tamis::leveldb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis::leveldb;
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0:
      repair_table(bytes);
      read_table(bytes);
      break;
    case 1: read_log(bytes, fragment(kManifest)); break;
    default: read_log("", bytes);
  }
  return 0;
}
