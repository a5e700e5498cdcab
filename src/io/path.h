// Paths as text.
#pragma once

#include <string>
#include <string_view>

namespace tamis {

/// The folder a path's last name stands in: "a/b" → "a", "b" → ".", "/b" → "/".
inline std::string parent_directory(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

inline std::string join_path(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

}  // namespace tamis
