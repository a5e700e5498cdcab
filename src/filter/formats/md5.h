// MD5 (RFC 1321), the source of positions in one foreign layout. Not used for security.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tamis::foreign {

std::array<std::byte, 16> md5(std::string_view message);

}  // namespace tamis::foreign
