// Bytes as hexadecimal digits, and whether they are text.
#pragma once

#include <string>
#include <string_view>

namespace tamis {

/// Two digits per byte.
std::string to_hex(std::string_view bytes);

/// Whether the bytes are well-formed UTF-8 (no surrogates or overlong forms), so that JSON can hold them.
bool is_utf8(std::string_view bytes);

}  // namespace tamis
