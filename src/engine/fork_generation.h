// Distinguishes a forked child from the process that opened the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

namespace tamis {

/// The number of forks since the first call. It is larger in a child than in its parent, whose stores the child must
/// not use (rule 10).
std::uint64_t fork_generation();

/// The same, for callers that have called fork_generation().
extern std::atomic<std::uint64_t> known_fork_generation;

/// For a forked child's copy of its parent's handles. They are never destroyed: that could take a mutex that a thread
/// of the parent held during the fork.
template <typename Handle>
void leave_to_parent(Handle handle) {
  new (std::nothrow) Handle(std::move(handle));  // NOLINT(bugprone-unused-raii)
}

}  // namespace tamis
