// Entries as text, TSV, CSV or JSON lines: chooses the format, writes entries and reads them back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/lines.h"
#include "tamis/expiry.h"

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
/// Writes to standard output, with the line end; no value: the key alone. TSV takes the bytes unchanged. JSON also
/// names the keyspace, unless that is empty, and when the value expires, in milliseconds since 1970.
void print_entry(std::string_view key, std::optional<std::string_view> value, EntryFormat format,
                 const CommonOptions& options, std::string_view keyspace = {},
                 std::optional<ExpiryTime> expires_at = {});

/// Entries in file order. A record that cannot be parsed is a usage error with its position. At most one record and the
/// line buffer are in memory.
///
/// Threads: one at a time.
class EntrySource {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;
    std::string_view keyspace = {};  ///< Empty if the entry names none.
    std::optional<ExpiryTime> expires_at = {};
  };

  virtual ~EntrySource() = default;
  EntrySource(const EntrySource&) = delete;
  EntrySource& operator=(const EntrySource&) = delete;

  /// The next entry, or nullopt at the end of the file. Valid until the next call.
  virtual std::optional<Entry> next() = 0;
  /// "words.txt: line 7": where the last entry returned begins.
  [[nodiscard]] virtual std::string place() const { return lines_.place(); }

 protected:
  explicit EntrySource(Lines& lines) : lines_(lines) {}
  /// Decodes hexadecimal fields, or refuses them.
  Entry decoded(std::string_view key, std::string_view value);

  Lines& lines_;
  std::string key_;  // What an entry refers to, unless it is in a line.
  std::string value_;
  std::string keyspace_;
};

/// What load's options say about its input.
struct EntryInput {
  EntryFormat format = EntryFormat::kTsv;
  bool is_hex = false;         ///< TSV and CSV: fields are hexadecimal. In JSON the member names say so.
  bool strips_return = false;  ///< TSV: lines end with CR LF. In other formats CR before LF is never data.
  /// CSV: whether the first record is a header. If unset: only if it is key,value, as dump writes it.
  std::optional<bool> has_header = {};
  std::uint64_t longest_record = 0;  ///< In bytes. A longer record is refused before it is in memory.
};

/// The length of the longest record that a store takes, in this format.
std::uint64_t longest_record_of(EntryFormat format, bool is_hex);

/// Reads from `lines`, which must outlive it.
std::unique_ptr<EntrySource> entries_in(Lines& lines, const EntryInput& input);

}  // namespace tamis::cli
