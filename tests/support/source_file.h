// Where tests find what the repository holds for them.
#pragma once

#include <string>
#include <string_view>

namespace tamis {

/// The path of a file of the repository, named from its root: tests/golden/... and the like.
std::string source_file(std::string_view relative);

}  // namespace tamis
