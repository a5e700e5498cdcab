// Where tests find files of the repository.
#pragma once

#include <string>
#include <string_view>

namespace tamis {

/// The path of a repository file, given relative to its root, such as tests/golden/...
std::string source_file(std::string_view relative);

}  // namespace tamis
