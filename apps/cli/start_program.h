// Programs that come with the command but link what it does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tamis::cli {

/// Becomes the program of this name: the one beside this command, built with it, otherwise the one in PATH. If there is
/// none: status 3, and the message ends with `where_it_is`.
[[noreturn]] void become(const std::string& program, std::vector<std::string> words, std::string_view where_it_is);

}  // namespace tamis::cli
