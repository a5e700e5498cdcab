// Keys from a file, one per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/lines.h"

namespace tamis::cli {

/// The keys of a file or of standard input, read as they are asked for; an empty line is the empty key. With --hex a
/// line is a key in hexadecimal.
class KeyLines {
 public:
  KeyLines(const std::string& path, const CommonOptions& options);

  /// The next key, or nothing at the end of the file. Valid until the next call.
  std::optional<std::string_view> next();
  /// Whether the next call has to wait for input: the moment to show what was answered so far.
  [[nodiscard]] bool must_read() const { return lines_.must_read(); }

 private:
  bool is_hex_;
  Lines lines_;
  std::string decoded_;
};

/// All keys of a file, for those who need them at once.
std::vector<std::string> read_keys(const std::string& path, const CommonOptions& options);

/// A key given as an operand: the text itself, or what it spells with --hex.
std::string key_of_operand(const std::string& operand, const CommonOptions& options);

/// What foreign::item_bytes is to make of keys that were read with these options: with --hex a long is its 8 bytes
/// already, and digits among them mean nothing.
inline std::string item_as_read(const std::string& item, const CommonOptions& options) {
  return options.hex && item == "long" ? "bytes" : item;
}

}  // namespace tamis::cli
