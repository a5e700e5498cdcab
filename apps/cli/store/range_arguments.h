// --prefix, --from and --to, as scan and count take them.
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
  /// After the line was read; decodes what --hex spells. The options look into this.
  [[nodiscard]] ScanOptions scan(const CommandLine& line);
};

}  // namespace tamis::cli
