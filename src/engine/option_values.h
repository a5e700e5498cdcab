// Option values as text: sizes, counts, words.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tamis {

/// Bytes: "4096", "64K", "64KiB", "1g"; K, M, G, T multiply by powers of 1024. Nullopt if malformed or too large.
std::optional<std::uint64_t> parse_size(std::string_view text);
/// "64KiB" if it is a whole number of them, else plain bytes. parse_size reads it back.
std::string size_text(std::uint64_t bytes);

/// A time: "250ms", "10s", "10min", "2h", "7d". Nullopt if malformed or longer than 1000 years.
std::optional<std::chrono::milliseconds> parse_time(std::string_view text);
/// "10min" if it is a whole number of them. parse_time reads it back.
std::string time_text(std::chrono::milliseconds time);

/// Only a whole decimal number.
std::optional<std::uint64_t> parse_whole_number(std::string_view text);

}  // namespace tamis
