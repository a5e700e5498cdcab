// Paths as text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// The path without trailing or doubled slashes, and without "." after its first name: "./a//b/./" → "./a/b".
/// kInvalidArgument if it contains a zero byte, which would end it early.
inline Result<std::string> plain_path(std::string_view path) {
  if (path.find('\0') != std::string_view::npos) {
    return Status::invalid_argument("the path '" + std::string(path.substr(0, path.find('\0'))) +
                                    "' is followed by a zero byte, which file names cannot contain");
  }
  std::string plain;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (at == 0 || !(name.empty() || name == ".")) {
      if (at > 0 && (plain.empty() || plain.back() != '/')) plain += '/';
      plain += name;
      if (at == 0 && name.empty()) plain = "/";
    }
    at = end + 1;
  }
  return plain;
}

/// The folder of a path's last name: "a/b" → "a", "b" → ".", "/b" → "/". For plain paths.
inline std::string parent_directory(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

inline std::string join_path(std::string_view directory, std::string_view name) {
  std::string path;
  path.reserve(directory.size() + 1 + name.size());
  path.append(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

}  // namespace tamis
