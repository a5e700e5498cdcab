// The numbers of merge operators, as the command reads and prints them.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_line.h"
#include "tamis/db.h"

namespace tamis::cli {

/// The name of the keyspace's merge operator; empty if it has none.
std::string operator_of(const DB& db, std::string_view keyspace);

/// A value of eight bytes as a decimal number, with a sign unless the operator is max_u64 or min_u64. A usage error for
/// other values.
std::string number_text(std::string_view value, std::string_view merge_operator);

}  // namespace tamis::cli
