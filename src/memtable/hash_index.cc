#include "memtable/hash_index.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"

namespace tamis {

void HashIndex::publish(const Spot& spot, std::uint64_t hash, Place newest) {
  TAMIS_CHECK(spot.newest != Place::kNone || has_room_for(1));
  if (spot.newest == Place::kNone) ++keys_;
  (*owned_)[spot.slot].store((hash & kUpperHalf) | static_cast<std::uint32_t>(newest), std::memory_order_release);
}

bool HashIndex::has_room_for(std::size_t more_keys) const {
  const std::size_t most_keys = owned_ == nullptr ? 0 : std::size_t{owned_->count} * 2 / 3;
  return more_keys <= most_keys - keys_;
}

std::unique_ptr<HashIndex::Slots> HashIndex::make_larger(std::size_t more_keys, std::size_t expected_keys) const {
  if (more_keys > kMaxSlots) return nullptr;
  const std::size_t wanted = std::max(keys_ + more_keys, expected_keys);
  std::size_t count = kMinSlots;
  while (count * 2 / 3 < wanted) {
    if (count == kMaxSlots) return nullptr;
    count *= 2;
  }
  std::unique_ptr<Slots> larger(new (std::nothrow) Slots);
  if (larger == nullptr) return nullptr;
  larger->memory = CountedBytes::zeroed(memory_, count * sizeof(std::uint64_t));
  if (larger->memory.empty()) return nullptr;
  larger->count = static_cast<std::uint32_t>(count);
  larger->charge = MemoryCharge(memory_, sizeof(Slots));
  return larger;
}

void HashIndex::adopt(std::unique_ptr<Slots> larger) {
  const std::size_t old_count = owned_ == nullptr ? 0 : owned_->count;
  for (std::size_t from = 0; from < old_count; ++from) {
    const std::uint64_t slot = (*owned_)[from].load(std::memory_order_relaxed);
    if (slot == 0) continue;
    std::size_t to = larger->home_of(slot);
    while ((*larger)[to].load(std::memory_order_relaxed) != 0) to = larger->after(to);
    (*larger)[to].store(slot, std::memory_order_relaxed);
  }
  larger->outgrown = std::move(owned_);
  owned_ = std::move(larger);
  // Pairs with the acquire loads in `locate` and `prefetch`.
  slots_.store(owned_.get(), std::memory_order_release);
}

}  // namespace tamis
