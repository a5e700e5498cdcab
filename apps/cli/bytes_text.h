// Bytes as text: hexadecimal, and whether they are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tamis::cli {

std::string to_hex(std::string_view bytes);

/// Decodes into `bytes`; false when the text is not an even number of hexadecimal digits.
[[nodiscard]] bool from_hex(std::string_view text, std::string& bytes);

/// Whether the bytes are well-formed UTF-8 (no surrogates, nothing overlong), so that JSON can hold them.
bool is_utf8(std::string_view bytes);

/// For messages: 'paris', cut where it is long, or 0x00ff where a terminal would not show it as it is.
std::string quoted(std::string_view bytes);
/// Whether a terminal shows the bytes as they are.
bool is_printable(std::string_view bytes);

}  // namespace tamis::cli
