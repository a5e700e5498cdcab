// What a store of a given size would cost: the options, and the answer as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>

#include "cli/command_line.h"
#include "tamis/scale.h"

namespace tamis::cli {

/// The options of `tamis plan` that go with --size.
struct ScaleArguments {
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> key_bytes;
  std::optional<std::uint64_t> value_bytes;
  std::optional<std::uint64_t> load_per_day;
  std::optional<std::uint64_t> disk;

  void declare(CommandLine& line);
  /// For a plan of an existing store.
  static void refuse(const CommandLine& line);
  [[nodiscard]] ScaleQuestion question(const Options& options) const;
};

/// Plans and prints. An invalid question is a usage error.
void print_scale(const ScaleQuestion& question, const CommonOptions& options);

}  // namespace tamis::cli
