// MD5 (RFC 1321), which one foreign layout uses as a source of positions. It protects nothing.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tamis::foreign {

std::array<std::byte, 16> md5(std::string_view message);

}  // namespace tamis::foreign
