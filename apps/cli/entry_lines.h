// Entries from a file, one per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "command_line.h"
#include "lines.h"

namespace tamis::cli {

/// Lines of KEY<TAB>VALUE: the value is all that follows the first tab. With --hex both are hexadecimal. A line without
/// a tab is a usage error with its number.
class EntryLines {
 public:
  struct Entry {
    std::string_view key;
    std::string_view value;
  };

  EntryLines(const std::string& path, const CommonOptions& options);

  /// The next entry, or nothing at the end of the file. Valid until the next call.
  std::optional<Entry> next();
  /// "words.txt: line 7", of the entry that was returned last.
  [[nodiscard]] std::string place() const { return lines_.place(); }
  [[nodiscard]] show::Progress& progress() { return lines_.progress(); }

 private:
  std::string_view decode(std::string_view text, std::string_view what, std::string& into) const;

  bool is_hex_;
  Lines lines_;
  std::string key_;
  std::string value_;
};

}  // namespace tamis::cli
