#include "engine/store_folder.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>

#include "base/try.h"
#include "engine/counters_format.h"
#include "io/file_names.h"
#include "io/path.h"
#include "journal/journal_format.h"
#include "table/table_format.h"
#include "table/value_file_format.h"
#include "tree/current_format.h"

namespace tamis {
namespace {

constexpr std::string_view kForeignCurrent = "MANIFEST-";  // Followed by a number and a newline.
constexpr std::string_view kLockText = "pid ";             // What a holder writes (io/posix_file_lock.cc).
constexpr std::size_t kMagicBytes = 8;
static_assert(kCurrentMagic.size() == kMagicBytes && kJournalMagic.size() == kMagicBytes);
static_assert(kTableMagic.size() == kMagicBytes && kTableEndMagic.size() == kMagicBytes);
static_assert(kValueFileMagic.size() == kMagicBytes && kCountersMagic.size() == kMagicBytes);

Result<std::string> bytes_at(const ReadableFile& file, std::uint64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  TAMIS_TRY(const std::size_t there, file.read_at(offset, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(there);
  return bytes;
}

Result<std::string> first_bytes(FileSystem& files, const std::string& path, std::size_t count) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
  return bytes_at(*file, 0, count);
}

enum class Mark : std::uint8_t { kOurs, kNone, kBlank };

/// Judges a file by its bytes.
Result<Mark> mark_of(const ReadableFile& file) {
  TAMIS_TRY(const std::string begin, bytes_at(file, 0, kMagicBytes));
  for (const std::string_view magic : {kCurrentMagic, kJournalMagic, kTableMagic, kValueFileMagic, kCountersMagic}) {
    if (begin == magic) return Mark::kOurs;
  }
  TAMIS_TRY(const std::uint64_t size, file.size());
  if (size >= kMagicBytes) {
    TAMIS_TRY(const std::string end, bytes_at(file, size - kMagicBytes, kMagicBytes));
    if (end == kTableEndMagic) return Mark::kOurs;
  }
  return begin.find_first_not_of('\0') == std::string::npos ? Mark::kBlank : Mark::kNone;
}

/// Whether others may have written a file of this name that is not marked as ours. A crash can leave counters blank.
bool is_shared_name(FileKind kind, const Result<Mark>& mark) {
  if (kind == FileKind::kCounters) return mark.ok() && *mark == Mark::kNone;
  return kind == FileKind::kCurrent || kind == FileKind::kManifest;
}

Status of_another(const std::string& directory) {
  return Status::invalid_argument(
      directory +
      ": this is a LevelDB or RocksDB folder; 'tamis import' copies it into a new store (docs/MIGRATING.md)");
}

Status has_file_of_another(const std::string& directory, std::string_view name) {
  return Status::invalid_argument(fmt::format(
      "{}: {} is not a tamis file; another program seems to use this folder; choose another one", directory, name));
}

}  // namespace

Result<StoreFolder> look_at_folder(FileSystem& files, const std::string& directory) {
  TAMIS_TRY(const std::vector<DirectoryEntry> entries, files.list(directory));
  StoreFolder folder;
  for (const DirectoryEntry& entry : entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || entry.is_directory || name->kind == FileKind::kLock || name->kind == FileKind::kLost) continue;
    const std::string path = join_path(directory, entry.name);
    TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
    const Result<Mark> mark = mark_of(*file);
    const bool is_shared = is_shared_name(name->kind, mark);
    if (mark.ok() && *mark == Mark::kOurs) {
      folder.proven.push_back(entry.name);
    } else if (is_shared) {
      folder.not_ours.push_back(entry.name);
      if (!mark.ok()) folder.unreadable = mark.status();
    } else {
      folder.only_named.push_back(entry.name);
      folder.is_blank &= mark.ok() && *mark == Mark::kBlank;
    }
    if (name->kind == FileKind::kCurrent) {
      const Result<std::string> text = bytes_at(*file, 0, kForeignCurrent.size());
      folder.is_of_another = text.ok() && *text == kForeignCurrent;
    }
  }
  return folder;
}

Status check_may_be_opened(FileSystem& files, const std::string& directory) {
  const Result<std::optional<std::uint64_t>> current = files.file_size(current_path(directory));
  if (!current.ok()) return {};  // Opening the folder reports why.
  if (*current) {
    TAMIS_TRY(const std::string text, first_bytes(files, current_path(directory), kForeignCurrent.size()));
    return text == kForeignCurrent ? of_another(directory) : Status();
  }
  const Result<StoreFolder> folder = look_at_folder(files, directory);
  if (!folder.ok()) return {};             // There is none, or opening it reports why.
  if (!folder->proven.empty()) return {};  // A store that lost its CURRENT.
  if (!folder->not_ours.empty()) return has_file_of_another(directory, folder->not_ours.front());
  TAMIS_TRY(const std::optional<std::uint64_t> lock_bytes, files.file_size(lock_path(directory)));
  if (lock_bytes.value_or(0) == 0) return {};
  TAMIS_TRY(const std::string text, first_bytes(files, lock_path(directory), kLockText.size()));
  return text == kLockText ? Status() : has_file_of_another(directory, "LOCK");
}

Status check_is_store(const StoreFolder& folder, const std::string& directory) {
  if (folder.is_of_another) return of_another(directory);
  if (!folder.proven.empty()) return {};
  if (!folder.has_names()) return Status::io_error(directory + ": no store is here");
  return Status::invalid_argument(
      fmt::format("{}: no file here is provably a tamis file ({} has no tamis magic); nothing was changed", directory,
                  folder.not_ours.empty() ? folder.only_named.front() : folder.not_ours.front()));
}

}  // namespace tamis
