// --fpr, --bits-per-key and --memory: the three ways to say how large a filter shall be.
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
  /// After `line` was read: usage_error when several were given.
  void check(const CommandLine& line) const;
  /// The one that was given, or the library's default, a rate of 1 %.
  [[nodiscard]] SizeTarget target() const;
};

/// What to say to somebody who chose a kind that takes half as much again as ribbon for this rate; empty: nothing.
std::string hint_of_smaller_kind(std::string_view kind, std::uint64_t keys, SizeTarget target);

}  // namespace tamis::cli
