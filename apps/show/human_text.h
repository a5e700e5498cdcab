// Numbers as people read them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::show {

/// Powers of 1000.
inline constexpr std::array<std::string_view, 4> kDiskUnits = {"KB", "MB", "GB", "TB"};

/// "1,234,567".
std::string with_thousands(std::uint64_t value);
/// Four significant digits or so, without an exponent.
std::string short_number(double value);
/// "1.23 MiB".
std::string human_bytes(std::uint64_t bytes);
/// "1.23 G", by powers of 1000.
std::string human_count(std::uint64_t count);
/// "1.23 MB", by powers of 1000.
std::string human_disk_bytes(std::uint64_t bytes);
/// "1.00 %", with three significant digits; below 0.001 % as "1.23e-06".
std::string human_rate(double rate);
/// "2026-11-15 14:23:04 UTC".
std::string date_text(std::uint64_t unix_seconds);

/// "[######......]": a fraction between 0 and 1 as a bar of `width` characters.
std::string bar(double part, std::size_t width);

}  // namespace tamis::show
