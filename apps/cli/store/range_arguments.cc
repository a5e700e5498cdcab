#include "cli/store/range_arguments.h"

#include "cli/store/common.h"

namespace tamis::cli {

void RangeArguments::declare(CommandLine& line) {
  line.option("--prefix", "P", "keys that begin with this", prefix);
  line.option("--from", "A", "keys from this one (inclusive)", from);
  line.option("--to", "B", "keys up to this one (exclusive)", to);
}

ScanOptions RangeArguments::scan(const CommandLine& line) {
  prefix = bytes_of_word(prefix, "--prefix:", line.common());
  from = bytes_of_word(from, "--from:", line.common());
  to = bytes_of_word(to, "--to:", line.common());
  ScanOptions range = {.prefix = prefix, .fills_cache = false};
  if (line.given("--from")) range.from = from;
  if (line.given("--to")) range.to = to;
  return range;
}

}  // namespace tamis::cli
