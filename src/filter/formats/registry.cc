#include "filter/formats/registry.h"

#include <fmt/core.h>

#include <array>
#include <string>

namespace tamis::foreign {
namespace {

#define TAMIS_FORMAT_ADDRESS(row) &(row),
constexpr const Format* kFormats[] = {TAMIS_FOREIGN_FORMATS(TAMIS_FORMAT_ADDRESS)};
#undef TAMIS_FORMAT_ADDRESS

}  // namespace

std::span<const Format* const> registered_formats() { return kFormats; }

Result<const Format*> find_format(std::string_view name) {
  std::string names;
  for (const Format* format : kFormats) {
    if (format->info.name == name) return format;
    names += names.empty() ? "" : ", ";
    names += format->info.name;
  }
  return Status::invalid_argument(fmt::format("no format is called \"{}\"; there are {}", name, names));
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
