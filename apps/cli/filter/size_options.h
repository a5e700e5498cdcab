// --fpr, --bits-per-key and --memory: three ways to size a filter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "cli/numbers.h"
#include "tamis/filter_math.h"

namespace tamis::cli {

struct SizeOptions {
  std::optional<double> rate;
  std::optional<double> bits_per_key;
  std::optional<std::uint64_t> memory_bytes;

  void declare(CommandLine& line, double (*parse)(std::string_view, std::string_view) = parse_rate);
  /// Call after reading `line`; usage_error if several were given.
  void check(const CommandLine& line) const;
  /// The target given, or the library's default, a rate of 1 %.
  [[nodiscard]] SizeTarget target() const;
};

/// A hint if the chosen kind takes half as much again as ribbon for this rate; otherwise empty.
std::string hint_of_smaller_kind(std::string_view kind, std::uint64_t keys, SizeTarget target);

}  // namespace tamis::cli
