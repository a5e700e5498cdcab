// Numbers as people write and read them.
#pragma once

#include <cstdint>
#include <string_view>

#include "show/human_text.h"

namespace tamis::cli {

// Parsers of option values. `option` is for the message. Text that is not entirely such a number is a usage_error.

/// A false-positive rate, 0 < rate < 1.
double parse_rate(std::string_view option, std::string_view text);
/// As parse_rate, or 1: no filter at all, in Cassandra's files.
double parse_rate_or_one(std::string_view option, std::string_view text);
/// A finite number above 0.
double parse_positive(std::string_view option, std::string_view text);
std::uint64_t parse_count(std::string_view option, std::string_view text);
/// A count that fits 32 bits.
std::uint32_t parse_small_count(std::string_view option, std::string_view text);
std::int64_t parse_integer(std::string_view option, std::string_view text);
/// Bytes; K, M, G, T (or KiB …) multiply by 1024, 1024², …
std::uint64_t parse_bytes(std::string_view option, std::string_view text);
/// As parse_bytes, or KB, MB, GB, TB, as for disks: powers of 1000.
std::uint64_t parse_disk_bytes(std::string_view option, std::string_view text);

using show::bar;
using show::date_text;
using show::human_bytes;
using show::human_count;
using show::human_disk_bytes;
using show::human_rate;
using show::with_thousands;

}  // namespace tamis::cli
