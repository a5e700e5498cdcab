// What a mistyped word may have been meant to be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tamis {

/// The candidate most like `word`, if one is so like it that it may have been meant: about a third of the letters may
/// be wrong, and two always.
std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace tamis
