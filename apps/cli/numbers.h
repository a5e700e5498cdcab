// Numbers as people write and read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis::cli {

// Readers of option values. They take the option's name for the message, and refuse anything that is not wholly such a
// number: usage_error.

/// A false-positive rate, 0 < rate < 1.
double parse_rate(std::string_view option, std::string_view text);
/// A finite number above 0.
double parse_positive(std::string_view option, std::string_view text);
std::uint64_t parse_count(std::string_view option, std::string_view text);
/// A count that fits 32 bits.
std::uint32_t parse_small_count(std::string_view option, std::string_view text);
std::int64_t parse_integer(std::string_view option, std::string_view text);
/// Bytes; K, M, G, T (or KiB …) multiply by 1024, 1024², …
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// The same, or KB, MB, GB, TB, as disks are sold: powers of 1000.
std::uint64_t parse_disk_bytes(std::string_view option, std::string_view text);

/// "1,234,567".
std::string with_thousands(std::uint64_t value);
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

/// "[######......]": a part between 0 and 1 as a bar of `width` characters.
std::string bar(double part, std::size_t width);

}  // namespace tamis::cli
