// Bytes as text: hexadecimal and UTF-8.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "text/byte_text.h"

namespace tamis::cli {

/// Decodes into `bytes`; false unless the text is an even number of hexadecimal digits.
[[nodiscard]] bool from_hex(std::string_view text, std::string& bytes);

/// Completes "… is not hexadecimal" with the reason and what to do.
std::string_view hint_on_hex(std::string_view text);

/// A key or value given as a word: the text itself, or decoded with --hex. `what` is for the message.
std::string bytes_of_word(std::string_view word, std::string_view what, const CommonOptions& options);
/// The inverse, for output.
std::string shown(std::string_view bytes, const CommonOptions& options);

/// For messages: 'paris', truncated if long, or 0x00ff if not printable.
std::string quoted(std::string_view bytes);
/// Whether a terminal shows the bytes unchanged.
bool is_printable(std::string_view bytes);

}  // namespace tamis::cli
