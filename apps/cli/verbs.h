// The verbs of the command, and how a command line finds its own.
#pragma once

#include <span>
#include <string>

namespace tamis::cli {

using Arguments = std::span<const std::string>;

/// Runs what the arguments (without the program's name) ask for and returns the exit status.
int run_command(Arguments arguments);

// One function per verb, each in the file of its name (union and intersect in filter_join.cc, rebuild beside verify);
// they take what follows the verb.
int run_demo(Arguments arguments);
int run_filter_build(Arguments arguments);
int run_filter_formats(Arguments arguments);
int run_filter_info(Arguments arguments);
int run_filter_intersect(Arguments arguments);
int run_filter_kinds(Arguments arguments);
int run_filter_plot(Arguments arguments);
int run_filter_probe(Arguments arguments);
int run_filter_rebuild(Arguments arguments);
int run_filter_size(Arguments arguments);
int run_filter_union(Arguments arguments);
int run_filter_verify(Arguments arguments);
int run_version(Arguments arguments);

}  // namespace tamis::cli
