// The tamis command: verbs for stores and filters.
#include "cli/program.h"
#include "cli/verbs.h"

int main(int argc, char** argv) { return tamis::cli::run_program(argc, argv, tamis::cli::run_command); }
