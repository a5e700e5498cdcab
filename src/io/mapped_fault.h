// Turns a failed store into a mapped file into a flag, instead of the signal that ends the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tamis {

/// Watches a memory range to which a file is mapped. A store that the file cannot take (the file was cut short, its
/// file system was shut down, a shared block cannot be copied on a full disk) raises SIGBUS. Then anonymous memory
/// replaces the whole range, the store continues into it, and has_failed() is true.
///
/// Invariants:
///  1. Only the default disposition of SIGBUS is replaced: a program's own handler stays.
///  2. Any other SIGBUS does what it would do without us: it ends the program.
///
/// Threads: one at a time, as for the memory it watches. The signal handler reads the registry at any moment.
class FaultWatch {
 public:
  FaultWatch() = default;
  ~FaultWatch() { end(); }
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  /// Installs the handler if necessary and registers the range, in whole pages. False if the program handles SIGBUS
  /// itself or too many ranges are watched: then nothing may be stored there.
  [[nodiscard]] bool begin(void* memory, std::size_t bytes);
  /// Call before the memory is unmapped.
  void end();
  /// Check after a store.
  [[nodiscard]] bool has_failed() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // The handler runs in the storing thread.
    return slot_->has_failed.load(std::memory_order_relaxed);
  }

  /// An entry of the registry.
  struct alignas(64) Slot {
    std::atomic<std::uintptr_t> stretch = 0;  // Its page-aligned address plus its number of pages; 0: free.
    std::atomic<bool> has_failed = false;
  };

 private:
  Slot* slot_ = nullptr;
  std::uintptr_t stretch_ = 0;
};

/// Whether a SIGBUS raised now by the calling thread would reach our handler: it is still installed, and the thread
/// does not block the signal. Two system calls.
bool thread_survives_fault();

}  // namespace tamis
