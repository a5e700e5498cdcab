// --prefix, --from and --to, for scan and count.
#pragma once

#include <string>

#include "cli/command_line.h"
#include "tamis/iterator.h"

namespace tamis::cli {

struct RangeArguments {
  std::string prefix;
  std::string from;
  std::string to;

  void declare(CommandLine& line);
  /// Call after reading the line; decodes --hex. The result refers to this object.
  [[nodiscard]] ScanOptions scan(const CommandLine& line);
};

}  // namespace tamis::cli
