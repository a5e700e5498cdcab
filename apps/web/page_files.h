// The files of the page, embedded when the program is built (embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace tamis::web {

struct PageFile {
  std::string_view path;  ///< "/style.css"; the page itself is "/".
  std::string_view type;
  std::string_view bytes;
};

std::span<const PageFile> page_files();

}  // namespace tamis::web
