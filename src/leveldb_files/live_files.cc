#include "leveldb_files/live_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "base/try.h"
#include "io/path.h"
#include "leveldb_files/internal_key_format.h"
#include "leveldb_files/log_records_format.h"

namespace tamis::leveldb {
namespace {

constexpr std::string_view kBytewise = "leveldb.BytewiseComparator";

/// 5 for "000005.log", with the suffix ".log".
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

Result<std::string> manifest_of(FileSystem& files, const std::string& folder) {
  const std::string path = join_path(folder, "CURRENT");
  TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(path));
  if (!size) return Status::io_error(fmt::format("{}: no LevelDB store is here: there is no file CURRENT", folder));
  TAMIS_TRY(std::string text, read_whole_file(files, path));
  constexpr std::string_view kPrefix = "MANIFEST-";
  if (!text.starts_with(kPrefix) || !text.ends_with('\n') ||
      !number_in(std::string_view(text).substr(kPrefix.size()), "\n")) {
    return Status::corruption(fmt::format(
        "{}: at offset 0: it does not name a manifest; LevelDB writes MANIFEST-, a number and a line end", path));
  }
  text.pop_back();
  return join_path(folder, text);
}

/// The sum of a manifest's records.
class State {
 public:
  Status apply(VersionEdit&& edit, const std::string& name) {
    if (edit.comparator && *edit.comparator != kBytewise) {
      return Status::not_supported(
          fmt::format("{}: the keys are in the order of the comparator {}; only {} can be imported", name,
                      *edit.comparator, kBytewise));
    }
    for (const auto& [level, number] : edit.deleted) {
      if (tables_.erase({level, number}) == 0) {
        return Status::corruption(
            fmt::format("{} removes table {} of level {}, which is not there", name, number, level));
      }
    }
    for (NewTable& table : edit.added) {
      const std::pair place(table.level, table.number);
      if (!tables_.emplace(place, std::move(table)).second) {
        return Status::corruption(fmt::format("{} adds table {} of level {} again", name, place.second, place.first));
      }
    }
    if (edit.log) log_ = edit.log;
    if (edit.previous_log) previous_log_ = *edit.previous_log;
    has_next_file_ |= edit.next_file.has_value();
    has_last_sequence_ |= edit.last_sequence.has_value();
    return {};
  }

  [[nodiscard]] bool is_complete() const { return log_ && has_next_file_ && has_last_sequence_; }
  /// By level and number.
  [[nodiscard]] const std::map<std::pair<std::uint64_t, std::uint64_t>, NewTable>& tables() const { return tables_; }
  [[nodiscard]] std::uint64_t log() const { return *log_; }
  [[nodiscard]] bool needs_log(std::uint64_t number) const { return number >= *log_ || number == previous_log_; }

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, NewTable> tables_;
  std::optional<std::uint64_t> log_;
  std::uint64_t previous_log_ = 0;
  bool has_next_file_ = false;
  bool has_last_sequence_ = false;
};

Result<State> read_manifest(FileSystem& files, const std::string& path, std::vector<std::string>& notes) {
  TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files.open_readable(path));
  LogRecords records(*file, path);
  State state;
  for (;;) {
    TAMIS_TRY(const std::optional<std::string> record, records.next());
    if (!record) break;
    const std::string name = fmt::format("{}: the record at offset {}", path, records.record_offset());
    TAMIS_TRY(VersionEdit edit, decode_version_edit(as_bytes(*record), name));
    TAMIS_TRY_STATUS(state.apply(std::move(edit), name));
  }
  TAMIS_TRY(const std::uint64_t size, file->size());
  if (!state.is_complete()) {
    return Status::corruption(
        fmt::format("{}: at offset {}: the manifest ends before the numbers of the log, the next file "
                    "and the last write",
                    path, records.torn_at().value_or(size)));
  }
  if (records.torn_at()) {
    notes.push_back(
        fmt::format("{}: the last {} bytes, from offset {}, are an incomplete record; left out, as LevelDB does", path,
                    size - *records.torn_at(), *records.torn_at()));
  }
  return state;
}

/// Numbered files of the folder, by number.
struct NumberedFiles {
  std::map<std::uint64_t, std::string> tables;  // Names: .ldb, or .sst as LevelDB before 1.14 wrote them.
  std::map<std::uint64_t, std::string> logs;
};

Result<NumberedFiles> numbered_files(FileSystem& files, const std::string& folder) {
  TAMIS_TRY(const std::vector<DirectoryEntry> entries, files.list(folder));
  NumberedFiles found;
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    if (const auto number = number_in(entry.name, ".log")) found.logs.emplace(*number, entry.name);
    if (const auto number = number_in(entry.name, ".ldb")) found.tables.insert_or_assign(*number, entry.name);
    if (const auto number = number_in(entry.name, ".sst")) found.tables.emplace(*number, entry.name);
  }
  return found;
}

Status add_tables(const State& state, const NumberedFiles& found, const std::string& folder, LiveFiles& live) {
  for (const auto& [place, table] : state.tables()) {
    const auto file = found.tables.find(table.number);
    if (file == found.tables.end()) {
      return Status::corruption(
          fmt::format("{}: the table {:06}.ldb of level {} is missing", folder, table.number, table.level));
    }
    const std::size_t key_bytes = table.smallest.size() - kInternalSuffixBytes;
    live.levels[table.level].push_back(
        {.path = join_path(folder, file->second),
         .number = table.number,
         .size = table.size,
         .smallest = table.smallest.substr(0, key_bytes),
         .smallest_sequence = Sequence{load_le<std::uint64_t>(table.smallest.data() + key_bytes) >> 8U}});
  }
  std::ranges::sort(live.levels[0], std::greater(), &TableRef::number);
  for (std::size_t level = 1; level < kLevels; ++level) {
    std::ranges::sort(live.levels[level], std::less(), &TableRef::first);
  }
  return {};
}

}  // namespace

Result<LiveFiles> find_live_files(FileSystem& files, const std::string& folder) {
  LiveFiles live;
  TAMIS_TRY(live.manifest, manifest_of(files, folder));
  TAMIS_TRY(const std::optional<std::uint64_t> size, files.file_size(live.manifest));
  if (!size) {
    return Status::corruption(
        fmt::format("{}: at offset 0: it names {}, which is missing", join_path(folder, "CURRENT"), live.manifest));
  }
  live.manifest_bytes = *size;
  TAMIS_TRY(const State state, read_manifest(files, live.manifest, live.notes));
  TAMIS_TRY(const NumberedFiles found, numbered_files(files, folder));
  TAMIS_TRY_STATUS(add_tables(state, found, folder, live));
  // LevelDB removes a log only when a later one is in the manifest. An older manifest would bring back old data.
  if (state.log() != 0 && !found.logs.contains(state.log())) {
    return Status::corruption(fmt::format("{}: the log {:06}.log is missing", folder, state.log()));
  }
  for (const auto& [number, name] : found.logs) {
    if (state.needs_log(number)) live.logs.push_back({join_path(folder, name), number});
  }
  return live;
}

}  // namespace tamis::leveldb
