#include "io/file_names.h"

#include <fmt/core.h>

#include <array>
#include <charconv>

#include "io/path.h"

namespace tamis {
namespace {

constexpr std::string_view kManifestPrefix = "MANIFEST-";
constexpr std::string_view kJournalSuffix = ".journal";
constexpr std::string_view kTableSuffix = ".tms";
constexpr std::string_view kValuesSuffix = ".values";
constexpr std::string_view kTemporarySuffix = ".tmp";

struct FixedName {
  std::string_view name;
  FileKind kind;
};
constexpr std::array kFixedNames = {FixedName{"CURRENT", FileKind::kCurrent}, FixedName{"LOCK", FileKind::kLock},
                                    FixedName{"lost", FileKind::kLost}, FixedName{"COUNTERS", FileKind::kCounters}};

std::string number_text(std::uint64_t number) { return fmt::format("{:06}", number); }

/// Only what number_text produces, so that no two names mean the same file.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number_text(number) != text) return std::nullopt;
  return number;
}

std::optional<FileName> numbered(FileKind kind, std::string_view text) {
  const std::optional<std::uint64_t> number = parse_number(text);
  if (!number) return std::nullopt;
  return FileName{kind, *number};
}

bool cut_suffix(std::string_view& name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  return true;
}

std::optional<FileName> parse_lasting_name(std::string_view name) {
  for (const FixedName& fixed : kFixedNames) {
    if (name == fixed.name) return FileName{fixed.kind, 0};
  }
  if (name.starts_with(kManifestPrefix)) return numbered(FileKind::kManifest, name.substr(kManifestPrefix.size()));
  if (cut_suffix(name, kJournalSuffix)) return numbered(FileKind::kJournal, name);
  if (cut_suffix(name, kTableSuffix)) return numbered(FileKind::kTable, name);
  if (cut_suffix(name, kValuesSuffix)) return numbered(FileKind::kValues, name);
  return std::nullopt;
}

}  // namespace

std::optional<FileName> parse_file_name(std::string_view name) {
  if (!cut_suffix(name, kTemporarySuffix)) return parse_lasting_name(name);
  // A file to be renamed to one of our names. Someone's notes.tmp is not ours.
  const std::optional<FileName> lasting = parse_lasting_name(name);
  if (!lasting || lasting->kind == FileKind::kLock || lasting->kind == FileKind::kLost) return std::nullopt;
  if (lasting->kind == FileKind::kCounters) return std::nullopt;  // Written in place.
  return FileName{FileKind::kTemporary, 0};
}

std::string current_path(std::string_view directory) { return join_path(directory, "CURRENT"); }
std::string lock_path(std::string_view directory) { return join_path(directory, "LOCK"); }
std::string counters_path(std::string_view directory) { return join_path(directory, "COUNTERS"); }
std::string lost_path(std::string_view directory) { return join_path(directory, "lost"); }

std::string manifest_path(std::string_view directory, std::uint64_t number) {
  return join_path(directory, std::string(kManifestPrefix) + number_text(number));
}
std::string journal_path(std::string_view directory, std::uint64_t number) {
  return join_path(directory, number_text(number).append(kJournalSuffix));
}
std::string table_path(std::string_view directory, std::uint64_t number) {
  return join_path(directory, number_text(number).append(kTableSuffix));
}

std::string value_file_path(std::string_view directory, std::uint64_t number) {
  return join_path(directory, number_text(number).append(kValuesSuffix));
}

}  // namespace tamis
