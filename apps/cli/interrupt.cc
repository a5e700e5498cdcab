#include "interrupt.h"

#include <unistd.h>

#include <csignal>

#include "error.h"

namespace tamis::cli {
namespace {

// Written by the main thread and by the handler that interrupts it; there is no other thread.
volatile std::sig_atomic_t delayed = 0;
volatile std::sig_atomic_t pending = 0;

extern "C" void on_interrupt(int /*signal*/) {
  if (delayed == 0 || pending != 0) ::_exit(kExitInterrupted);
  pending = 1;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // Whoever started us may have ignored it.
}

DelayInterrupt::DelayInterrupt() { delayed = 1; }

DelayInterrupt::~DelayInterrupt() {
  delayed = 0;
  if (pending != 0) ::_exit(kExitInterrupted);
}

}  // namespace tamis::cli
