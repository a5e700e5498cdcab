// Stores into a mapped file that the file system cannot take: a mark instead of the signal that ends the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tamis {

/// Watches one stretch of memory to which a file is mapped. A store that the file cannot take (it was cut short, its
/// file system was shut down, a shared block cannot be copied on a full disk) raises SIGBUS. Then anonymous memory
/// takes the place of the whole stretch, the store goes on into it, and has_failed() tells.
///
/// Invariants:
///  1. Only the default disposition of SIGBUS is ever replaced: a program that has a handler keeps it.
///  2. A SIGBUS of any other origin does what it would do without us: it ends the program.
///
/// Threads: one at a time, as the memory it watches. The signal handler reads the registry at any moment.
class FaultWatch {
 public:
  FaultWatch() = default;
  ~FaultWatch() { end(); }
  FaultWatch(const FaultWatch&) = delete;
  FaultWatch& operator=(const FaultWatch&) = delete;

  /// Installs the handler if need be and enters the stretch, whole pages of it. False when the program handles SIGBUS
  /// itself or too many stretches are watched already: then nothing may be stored there.
  [[nodiscard]] bool begin(void* memory, std::size_t bytes);
  /// Before the memory is unmapped.
  void end();
  /// After a store.
  [[nodiscard]] bool has_failed() const {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // The handler runs in the thread that stores.
    return slot_->has_failed.load(std::memory_order_relaxed);
  }

  /// An entry of the registry.
  struct alignas(64) Slot {
    std::atomic<std::uintptr_t> stretch = 0;  // Its address, which is that of a page, plus its pages; 0: free.
    std::atomic<bool> has_failed = false;
  };

 private:
  Slot* slot_ = nullptr;
  std::uintptr_t stretch_ = 0;
};

/// Whether a SIGBUS that the calling thread raised now would come to our handler: it is still installed, and the thread
/// does not block the signal. Two system calls.
bool thread_survives_fault();

}  // namespace tamis
