// The command line of tamis-bench.
#pragma once

#include <optional>
#include <string>

#include "store/field.h"

namespace tamis::bench {

/// Nothing when it cannot be understood, with the reason in `why`; help is such a case with an empty reason.
std::optional<Settings> read_command(int count, char** arguments, std::string& why);

std::string usage_text();

}  // namespace tamis::bench
