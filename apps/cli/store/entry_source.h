// Reads entries from a file, in any format that dump writes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/lines.h"
#include "cli/store/entry_format.h"

namespace tamis::cli {

/// Entries in file order. A record that cannot be parsed is a usage error with its position. At most one record and the
/// line buffer are in memory.
///
/// Threads: one at a time.
class EntrySource {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;
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

  Lines& lines_;
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

/// Reads from `lines`, which must outlive it.
std::unique_ptr<EntrySource> entries_in(Lines& lines, const EntryInput& input);

}  // namespace tamis::cli
