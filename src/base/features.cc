#include "base/features.h"

#include <fmt/core.h>

#include <array>
#include <bit>

namespace tamis {
namespace {

constexpr std::uint32_t kKnown =
    (Features::of(Feature::kKeyspaces) | Features::of(Feature::kRangeDeletes) | Features::of(Feature::kExpiry) |
     Features::of(Feature::kMerges) | Features::of(Feature::kValuesApart) | Features::of(Feature::kCommitsInTables) |
     Features::of(Feature::kLongKeys) | Features::of(Feature::kPaddedBlocks) | Features::of(Feature::kRangeFilters))
        .to_read;
constexpr std::array<std::string_view, 9> kNames = {"keyspaces", "range deletes", "expiry",
                                                    "merges",    "values apart",  "commits in tables",
                                                    "long keys", "padded blocks", "range filters"};

Status check_known(std::uint32_t bits, std::string_view needed_to, std::string_view name) {
  const std::uint32_t unknown = bits & ~kKnown;
  if (unknown == 0) return {};
  const auto number = static_cast<std::size_t>(std::countr_zero(unknown));
  const std::string what = number < kNames.size() ? fmt::format(" ({})", kNames[number]) : "";
  return Status::not_supported(fmt::format(
      "{}: feature {}{}, needed to {}, is not known to this build; use a newer tamis", name, number, what, needed_to));
}

}  // namespace

Status check_can_read(const Features& features, std::string_view name) {
  return check_known(features.to_read, "read it", name);
}

Status check_can_write(const Features& features, std::string_view name) {
  return check_known(features.to_write, "write to the store", name);
}

}  // namespace tamis
