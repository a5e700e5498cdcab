#include "filter/formats/format.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"

namespace tamis::foreign {
namespace {

#define TAMIS_FORMAT_ADDRESS(row) &(row),
constexpr const Format* kFormats[] = {TAMIS_FOREIGN_FORMATS(TAMIS_FORMAT_ADDRESS)};
#undef TAMIS_FORMAT_ADDRESS

}  // namespace

std::span<const Format* const> registered_formats() { return kFormats; }

Result<const Format*> find_format(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Format* format : kFormats) {
    if (format->info.name == name) return format;
    names.push_back(format->info.name);
  }
  const std::optional<std::string_view> guess = nearest_word(name, names);
  return Status::invalid_argument(
      guess ? fmt::format("unknown format '{}'; did you mean '{}'?", name, *guess)
            : fmt::format("unknown format '{}'; the formats are {}", name, fmt::join(names, ", ")));
}

std::span<const FormatInfo> formats() {
  static const auto infos = [] {
    std::array<FormatInfo, std::size(kFormats)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kFormats[i]->info;
    return all;
  }();
  return infos;
}

}  // namespace tamis::foreign
