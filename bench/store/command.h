// The command line of tamis-bench.
#pragma once

#include <optional>
#include <string>

#include "store/field.h"

namespace tamis::bench {

/// Nullopt if it cannot be parsed, with the reason in `why`; for help the reason is empty.
std::optional<Settings> read_command(int count, char** arguments, std::string& why);

std::string usage_text();

}  // namespace tamis::bench
