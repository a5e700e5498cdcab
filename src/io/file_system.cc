#include "io/file_system.h"

#include "base/try.h"
#include "io/direct_file.h"

namespace tamis {

Status WritableFile::write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces) {
  TAMIS_TRY_STATUS(write_at(offset, pieces));
  return sync();
}

Result<std::unique_ptr<FileWindow>> WritableFile::open_window(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) {
  return Status::not_supported("files are not mapped here");
}

Result<std::unique_ptr<ReadableFile>> FileSystem::open_direct(const std::string& path) {
  TAMIS_TRY(std::unique_ptr<ReadableFile> file, open_readable(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<DirectFile>(std::move(file)));
}

void FileSystem::read_many(std::span<FileRead> reads) {
  for (FileRead& read : reads) read.there = read.file->read_at(read.offset, read.to);
}

Result<std::string> read_whole_file(FileSystem& files, const std::string& path) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
  TAMIS_TRY(const std::uint64_t size, file->size());
  std::string bytes(size, '\0');
  TAMIS_TRY(const std::size_t there, file->read_at(0, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(there);
  return bytes;
}

}  // namespace tamis
