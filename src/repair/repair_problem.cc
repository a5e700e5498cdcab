#include "repair/repair_problem.h"

#include <charconv>

namespace tamis {
namespace {

bool cut_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace

std::string file_name_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

Problem problem_of(const std::string& path, std::uint64_t offset, const Status& status) {
  std::string_view what = status.message();
  if (cut_prefix(what, path)) cut_prefix(what, ": ");
  std::string_view rest = what;
  cut_prefix(rest, "block ");
  if (cut_prefix(rest, "at offset ")) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), offset);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (error == std::errc() && cut_prefix(rest, ": ")) what = rest;
  }
  return {file_name_of(path), offset, std::string(what)};
}

bool is_damage(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kIoError;
}

}  // namespace tamis
