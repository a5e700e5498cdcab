#include "engine/link_or_copy.h"

#include <utility>
#include <vector>

#include "base/try.h"
#include "io/append_file.h"

namespace tamis {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

Status copy_file(FileSystem& files, const ReadableFile& source, const std::string& to) {
  TAMIS_TRY(std::unique_ptr<WritableFile> target, files.open_writable(to, OpenMode::kCreate));
  AppendFile copy(std::move(target), 0);
  std::vector<std::byte> buffer(kBufferBytes);
  while (true) {
    TAMIS_TRY(const std::size_t count, source.read_at(copy.end(), buffer));
    if (count == 0) break;
    TAMIS_TRY_STATUS(copy.append(Bytes(buffer).first(count)));
  }
  TAMIS_TRY_STATUS(copy.sync());
  return copy.close();
}

}  // namespace

Status link_or_copy(FileSystem& files, const std::string& from, const std::string& to, const ReadableFile* held) {
  if (Status linked = files.link(from, to); linked.ok()) return linked;
  if (held != nullptr) return copy_file(files, *held, to);
  TAMIS_TRY(const std::unique_ptr<ReadableFile> source, files.open_readable(from));
  return copy_file(files, *source, to);
}

}  // namespace tamis
