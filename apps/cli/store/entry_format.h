// Entries as text: lines with a tab, CSV or JSON lines. Which of them is asked for, and how each is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace tamis::cli {

enum class EntryFormat : unsigned char {
  kTsv,        ///< KEY<TAB>VALUE. Cannot hold a tab in a key or a line end in either, except with --hex.
  kCsv,        ///< RFC 4180, with the header key,value. Holds any bytes.
  kJsonLines,  ///< {"key": …, "value": …}; key_hex and value_hex for bytes that are not UTF-8. Holds any bytes.
};

/// --format and --csv, which load, dump and scan take.
struct FormatArguments {
  std::string name;
  bool csv = false;

  void declare(CommandLine& line);
  /// The format that was named, if one was. Refuses a name that is none, and both options at once.
  [[nodiscard]] std::optional<EntryFormat> named(const CommandLine& line) const;
  /// For verbs that write entries, where --json names a format too.
  [[nodiscard]] EntryFormat written(const CommandLine& line) const;
};

/// What comes before the first entry: CSV's header.
void print_entry_header(EntryFormat format, bool keys_only);
/// Onto standard output, with its line end. TSV takes the bytes as they are.
void print_entry(std::string_view key, std::string_view value, EntryFormat format, const CommonOptions& options);
/// A key without its value.
void print_key(std::string_view key, EntryFormat format, const CommonOptions& options);

}  // namespace tamis::cli
