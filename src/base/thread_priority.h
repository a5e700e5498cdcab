// Background thread priority.
#pragma once

namespace tamis {

/// Gives the calling thread about a third of the CPU time of a thread of normal priority on the same core. A hint: if
/// it is refused, nothing changes.
void lower_own_priority();

}  // namespace tamis
