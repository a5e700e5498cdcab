// DB::GetProperty.
#pragma once

#include <tamis/stats.h>

#include <optional>
#include <string>
#include <string_view>

namespace tamis::dropin {

/// The value of a property in LevelDB's form, or none if there is no property of this name.
[[nodiscard]] std::optional<std::string> property(std::string_view name, const Stats& stats);

}  // namespace tamis::dropin
