// Bytes as text: hexadecimal and UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tamis::cli {

std::string to_hex(std::string_view bytes);

/// Decodes into `bytes`; false unless the text is an even number of hexadecimal digits.
[[nodiscard]] bool from_hex(std::string_view text, std::string& bytes);

/// Whether the bytes are well-formed UTF-8 (no surrogates or overlong forms), so that JSON can hold them.
bool is_utf8(std::string_view bytes);

/// For messages: 'paris', truncated if long, or 0x00ff if not printable.
std::string quoted(std::string_view bytes);
/// Whether a terminal shows the bytes unchanged.
bool is_printable(std::string_view bytes);

}  // namespace tamis::cli
