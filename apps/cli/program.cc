#include "cli/program.h"

#include <exception>
#include <new>
#include <string_view>
#include <vector>

#include "cli/error.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace tamis::cli {
namespace {

/// Output printed before the failure is valid and stays. An error while flushing it is ignored: the first failure is
/// reported.
int give_up(int exit_status, std::string_view message) {
  try {
    standard_output().flush();
  } catch (const CommandError&) {
    standard_output().discard();
  }
  report_error(message);
  return exit_status;
}

}  // namespace

int run_program(int argc, char** argv, int (*work)(std::span<const std::string> words)) {
  install_signal_handlers();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    const int exit_status = work(words);
    standard_output().flush();
    return exit_status;
  } catch (const CommandError& error) {
    return give_up(error.exit_status(), error.what());
  } catch (const std::bad_alloc&) {
    return give_up(kExitInputOutput, "out of memory; use fewer keys, or lower memory_bytes or the filter's size");
  } catch (const std::exception& error) {
    return give_up(kExitInputOutput, error.what());
  }
}

}  // namespace tamis::cli
