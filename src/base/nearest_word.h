// Suggestions for mistyped words.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tamis {

/// The candidate most similar to `word`, if one is similar enough: about a third of the letters may be wrong, and two
/// always.
std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace tamis
