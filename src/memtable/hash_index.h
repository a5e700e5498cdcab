// Maps a key's hash to its newest version.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hash.h"
#include "memtable/arena.h"
#include "memtable/counted_bytes.h"
#include "memtable/entry_record.h"

namespace tamis {

/// An open-addressing hash table of 8-byte slots, eight per cache line:
///
///     slot     | upper half of the hash: 32 bits | place of the newest version: 32 bits |     0: free
///
/// A key's slot is at or after its home, which is the upper half of the hash scaled to the table. So doubling reads the
/// old slots and writes the new ones sequentially, and touches no entry.
///
/// Invariants:
///  1. A slot changes from free to taken and from a version to a newer one, never back.
///  2. At most two thirds of the slots are taken, so that every search ends, on average within a cache line.
///  3. Outgrown arrays stay unchanged, for readers still using them, until the index is destroyed.
///
/// Threads: one modifies it; any number locate.
class HashIndex {
 public:
  using Place = Arena::Place;

  /// An array of slots. Its size is a power of two.
  struct Slots {
    CountedBytes memory;
    std::uint32_t count = 0;
    MemoryCharge charge;                    // For this object itself.
    std::unique_ptr<const Slots> outgrown;  // The previous array.

    ~Slots() { memory.clear_for_reuse(); }
    [[nodiscard]] std::atomic_ref<std::uint64_t> operator[](std::size_t slot) const {
      const void* const bytes = memory.data() + slot * sizeof(std::uint64_t);
      return std::atomic_ref(*static_cast<std::uint64_t*>(const_cast<void*>(bytes)));
    }
    [[nodiscard]] std::size_t home_of(std::uint64_t hash) const {
      return fast_range32(static_cast<std::uint32_t>(hash >> 32), count);
    }
    [[nodiscard]] std::size_t after(std::size_t slot) const { return (slot + 1) & (count - 1); }
  };
  /// A key's slot, or the free one where it belongs, and its newest version, or none.
  struct Spot {
    std::size_t slot;
    Place newest;
  };

  HashIndex(const Arena& arena, MemoryCount& memory) : arena_(arena), memory_(memory) {}

  [[nodiscard]] Spot locate(std::string_view key, std::uint64_t hash) const {
    // Pairs with the release store in `adopt`.
    const Slots* const slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return {0, Place::kNone};
    for (std::size_t at = slots->home_of(hash);; at = slots->after(at)) {
      // Pairs with the release store in `publish`.
      const std::uint64_t slot = (*slots)[at].load(std::memory_order_acquire);
      const Place place = place_of(slot);
      if (place == Place::kNone) return {at, place};
      if (((slot ^ hash) & kUpperHalf) == 0 && EntryRecord::at(arena_, place).key() == key) return {at, place};
    }
  }
  /// Prefetches the cache line that `locate` reads first.
  void prefetch(std::uint64_t hash) const {
    const Slots* const slots = slots_.load(std::memory_order_acquire);
    if (slots != nullptr) __builtin_prefetch(slots->memory.data() + slots->home_of(hash) * sizeof(std::uint64_t));
  }

  /// Prefetches the entry that `locate` reads first, if it is in its home slot.
  void prefetch_entry(std::uint64_t hash) const {
    const Slots* const slots = slots_.load(std::memory_order_acquire);
    if (slots == nullptr) return;
    const std::uint64_t slot = (*slots)[slots->home_of(hash)].load(std::memory_order_acquire);
    if (place_of(slot) == Place::kNone || ((slot ^ hash) & kUpperHalf) != 0) return;
    const char* const record = static_cast<const char*>(arena_.at(place_of(slot)));
    __builtin_prefetch(record);
    __builtin_prefetch(record + 64);
  }

  /// Points the located slot to a newer version; a new key requires has_room_for(1).
  void publish(const Spot& spot, std::uint64_t hash, Place newest);

  [[nodiscard]] std::size_t keys() const { return keys_; }
  [[nodiscard]] bool has_room_for(std::size_t more_keys) const;
  /// An array with room for `more_keys` more, and for `expected_keys` in total; null if memory is short. To be adopted.
  [[nodiscard]] std::unique_ptr<Slots> make_larger(std::size_t more_keys, std::size_t expected_keys = 0) const;
  void adopt(std::unique_ptr<Slots> larger);

 private:
  static constexpr std::uint64_t kUpperHalf = 0xffff'ffff'0000'0000U;
  static constexpr std::size_t kMinSlots = 1024;
  static constexpr std::size_t kMaxSlots = std::size_t{1} << 31;

  static Place place_of(std::uint64_t slot) { return Place{static_cast<std::uint32_t>(slot)}; }

  const Arena& arena_;
  MemoryCount& memory_;
  std::atomic<const Slots*> slots_ = nullptr;
  std::unique_ptr<const Slots> owned_;  // The target of slots_. Owned by the inserter, like the following.
  std::size_t keys_ = 0;
};

}  // namespace tamis
