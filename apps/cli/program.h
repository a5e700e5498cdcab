// What the programs of the command share: from main to a verb and back.
#pragma once

#include <span>
#include <string>

namespace tamis::cli {

/// Runs `work` with the arguments, flushes standard output and returns the exit status. What is thrown becomes a
/// message and its exit status.
int run_program(int argc, char** argv, int (*work)(std::span<const std::string> words));

}  // namespace tamis::cli
