#include "base/thread_priority.h"

#include <sys/resource.h>

namespace tamis {

void lower_own_priority() {
  constexpr int kNice = 5;
  constexpr id_t kCallingThread = 0;  // On Linux each thread has its own priority.
  (void)::setpriority(PRIO_PROCESS, kCallingThread, kNice);
}

}  // namespace tamis
