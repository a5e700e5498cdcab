// Option values as text: sizes, counts, words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis {

/// Bytes: "4096", "64K", "64KiB", "1g"; K, M, G, T multiply by powers of 1024. Nullopt if malformed or too large.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// "64KiB" if it is a whole number of them, else plain bytes. parse_size reads it back.
std::string size_text(std::uint64_t bytes);

/// Only a whole decimal number.
std::optional<std::uint64_t> parse_whole_number(std::string_view text);

}  // namespace tamis
