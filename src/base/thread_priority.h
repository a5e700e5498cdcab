// Threads that others should not have to wait for.
#pragma once

namespace tamis {

/// From now on the calling thread gets about a third of the time that one of normal priority gets on the same core. A
/// wish: where it is not granted, nothing changes.
void lower_own_priority();

}  // namespace tamis
