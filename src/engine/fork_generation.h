// Telling a forked child from the process that opened the store.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

namespace tamis {

/// How many forks lie between this process and the one that first asked. A child has a larger number than what its
/// parent remembered: what the parent opened is not the child's to use (rule 10).
std::uint64_t fork_generation();

/// The same, for who has asked before.
extern std::atomic<std::uint64_t> known_fork_generation;

/// For what a forked child has of its parent's store: never destroyed, because that takes mutexes which a thread of the
/// parent may have held, and which nobody unlocks in the child.
template <typename Handle>
void leave_to_parent(Handle handle) {
  new (std::nothrow) Handle(std::move(handle));  // NOLINT(bugprone-unused-raii)
}

}  // namespace tamis
