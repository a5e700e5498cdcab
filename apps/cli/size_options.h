// --fpr, --bits-per-key and --memory: the three ways to say how large a filter shall be.
#pragma once

#include <cstdint>
#include <optional>

#include "command_line.h"
#include "tamis/filter_math.h"

namespace tamis::cli {

struct SizeOptions {
  std::optional<double> rate;
  std::optional<double> bits_per_key;
  std::optional<std::uint64_t> memory_bytes;

  void declare(CommandLine& line);
  /// After `line` was read: usage_error unless exactly one was given.
  static void need_one(const CommandLine& line);
  /// The one that was given.
  [[nodiscard]] SizeTarget target() const;
};

}  // namespace tamis::cli
