// Entries as text: TSV, CSV or JSON lines. Chooses the format and writes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"

namespace tamis::cli {

enum class EntryFormat : unsigned char {
  kTsv,        ///< KEY<TAB>VALUE. Without --hex, keys cannot hold tabs, and neither keys nor values line ends.
  kCsv,        ///< RFC 4180, with the header key,value. Holds any bytes.
  kJsonLines,  ///< {"key": …, "value": …}; key_hex and value_hex for bytes that are not UTF-8. Holds any bytes.
};

/// --format and --csv, shared by load, dump and scan.
struct FormatArguments {
  std::string name;
  bool csv = false;

  void declare(CommandLine& line);
  /// The format named, if any. Refuses unknown names, and both options at once.
  [[nodiscard]] std::optional<EntryFormat> named(const CommandLine& line) const;
  /// For verbs that write entries, where --json also names a format.
  [[nodiscard]] EntryFormat written(const CommandLine& line) const;
};

/// What precedes the first entry: CSV's header.
void print_entry_header(EntryFormat format, bool keys_only);
/// Writes to standard output, with the line end; no value: the key alone. TSV takes the bytes unchanged.
void print_entry(std::string_view key, std::optional<std::string_view> value, EntryFormat format,
                 const CommonOptions& options);

}  // namespace tamis::cli
