// Keys from a file, one per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/lines.h"

namespace tamis::cli {

/// The keys of a file or of standard input, read on demand. An empty line is the empty key. With --hex, lines are
/// hexadecimal.
class KeyLines {
 public:
  KeyLines(const std::string& path, const CommonOptions& options);

  /// The next key, or nullopt at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Whether the next call may block on input: flush the answers so far.
  [[nodiscard]] bool must_read() const { return lines_.must_read(); }

 private:
  bool is_hex_;
  Lines lines_;
  std::string decoded_;
};

/// All keys of a file at once.
std::vector<std::string> read_keys(const std::string& path, const CommonOptions& options);

/// A key given as an operand: the text itself, or decoded with --hex.
std::string key_of_operand(const std::string& operand, const CommonOptions& options);

/// The item type for foreign::item_bytes: with --hex, a long is already its 8 bytes, which are not digits to parse.
inline std::string item_as_read(const std::string& item, const CommonOptions& options) {
  return options.hex && item == "long" ? "bytes" : item;
}

}  // namespace tamis::cli
