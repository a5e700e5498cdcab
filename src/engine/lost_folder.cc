#include "engine/lost_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/try.h"
#include "engine/link_or_copy.h"
#include "io/file_names.h"
#include "io/path.h"

namespace tamis {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

Result<bool> have_same_bytes(FileSystem& files, const std::string& a, const std::string& b) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file_a, files.open_readable(a));
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file_b, files.open_readable(b));
  std::vector<std::byte> bytes_a(kBufferBytes);
  std::vector<std::byte> bytes_b(kBufferBytes);
  for (std::uint64_t offset = 0;; offset += kBufferBytes) {
    TAMIS_TRY(const std::size_t count_a, file_a->read_at(offset, bytes_a));
    TAMIS_TRY(const std::size_t count_b, file_b->read_at(offset, bytes_b));
    if (!std::ranges::equal(Bytes(bytes_a).first(count_a), Bytes(bytes_b).first(count_b))) return false;
    if (count_a < kBufferBytes) return true;
  }
}

/// A name that is free, or none when the file is there already: from a repair that was interrupted.
Result<std::optional<std::string>> find_name(FileSystem& files, const std::string& path, const std::string& target) {
  for (std::uint32_t copy = 0;; ++copy) {
    const std::string name = copy == 0 ? target : fmt::format("{}.{}", target, copy);
    TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(name));
    if (!size) return std::optional(name);
    const Result<bool> is_same = have_same_bytes(files, path, name);
    if (is_same.ok() && *is_same) return std::optional<std::string>();
  }
}

}  // namespace

Status link_to_lost(FileSystem& files, const std::string& directory, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  const std::string lost = lost_path(directory);
  if (!files.list(lost).ok()) TAMIS_TRY_STATUS(files.make_directory(lost));
  for (const std::string& name : names) {
    const std::string path = join_path(directory, name);
    TAMIS_TRY(const std::optional<std::string> target, find_name(files, path, join_path(lost, name)));
    if (target) TAMIS_TRY_STATUS(link_or_copy(files, path, *target));
  }
  TAMIS_TRY_STATUS(files.sync_directory(lost));
  return files.sync_directory(directory);
}

}  // namespace tamis
