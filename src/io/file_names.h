// The names of a store's files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis {

enum class FileKind : std::uint8_t {
  kCurrent,
  kLock,
  kManifest,
  kJournal,
  kTable,
  kValues,
  kTemporary,
  kLost,
  kCounters
};

struct FileName {
  FileKind kind = FileKind::kTable;
  std::uint64_t number = 0;  ///< Of manifests, journals, tables and value files; 0 for others.

  friend bool operator==(const FileName&, const FileName&) = default;
};

/// Nullopt for a name that is not ours. Others use CURRENT, LOCK and MANIFEST-000001 too: a file's first bytes tell
/// whose it is (engine/store_folder.h).
std::optional<FileName> parse_file_name(std::string_view name);

std::string current_path(std::string_view directory);
std::string lock_path(std::string_view directory);
std::string counters_path(std::string_view directory);
std::string lost_path(std::string_view directory);                              // A folder.
std::string manifest_path(std::string_view directory, std::uint64_t number);    // MANIFEST-000001
std::string journal_path(std::string_view directory, std::uint64_t number);     // 000012.journal
std::string table_path(std::string_view directory, std::uint64_t number);       // 000013.tms
std::string value_file_path(std::string_view directory, std::uint64_t number);  // 000017.values

}  // namespace tamis
