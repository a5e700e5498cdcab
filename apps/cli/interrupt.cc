#include "cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/error.h"

namespace tamis::cli {
namespace {

// The handler may run on any thread. Each side sets its own flag, then reads the other's, all sequentially consistent,
// so at least one of them sees both and exits.
std::atomic<bool> delayed = false;
std::atomic<bool> pending = false;
static_assert(std::atomic<bool>::is_always_lock_free, "the handler must not block");

extern "C" void on_interrupt(int /*signal*/) {
  if (pending.exchange(true) || !delayed.load()) ::_exit(kExitInterrupted);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_DFL);  // The parent process may have ignored it.
  std::signal(SIGXFSZ, SIG_IGN);  // A write beyond 'ulimit -f' fails with a message instead of killing the process.
}

DelayInterrupt::DelayInterrupt() { delayed.store(true); }

DelayInterrupt::~DelayInterrupt() {
  delayed.store(false);
  if (pending.load()) ::_exit(kExitInterrupted);
}

bool DelayInterrupt::is_pending() { return pending.load(); }

}  // namespace tamis::cli
