#include <fmt/core.h>

#include <algorithm>

#include "filter/formats/cassandra.h"

namespace tamis::foreign {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool is_version(std::string_view text) {
  return text.size() == 2 && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<CassandraName> parse_cassandra_name(std::string_view path) {
  const std::vector<std::string_view> parts = split(path.substr(path.find_last_of('/') + 1), '-');
  const std::size_t count = parts.size();
  if (count < 4 || !parts[count - 1].ends_with(".db")) return std::nullopt;
  const std::string_view kind = parts[count - 2];
  if (count == 4 && (kind == "big" || kind == "bti") && is_version(parts[0])) {
    return CassandraName{std::string(parts[0]), kind == "bti"};
  }
  if (is_number(kind) && is_version(parts[count - 3])) return CassandraName{std::string(parts[count - 3]), false};
  return std::nullopt;
}

Result<std::string_view> cassandra_format_of_name(std::string_view path) {
  const std::optional<CassandraName> name = parse_cassandra_name(path);
  if (!name) {
    return Status::invalid_argument(
        fmt::format("{}: the name has no Cassandra version such as nb-; give the format", path));
  }
  if (name->version < (name->bti ? "da" : "ia")) {
    return Status::not_supported(
        fmt::format("{}: version {} is older than the supported layouts (1.2 and later)", path, name->version));
  }
  if (name->bti || name->version >= "na") return kCassandraFormats[0];
  return name->version >= "ma" ? kCassandraFormats[1] : kCassandraFormats[2];
}

}  // namespace tamis::foreign
