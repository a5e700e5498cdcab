#include "memtable/memtable.h"

#include <atomic>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"
#include "entry/expiry.h"
#include "memtable/arena.h"
#include "memtable/hash_index.h"
#include "memtable/order_on_demand.h"
#include "memtable/version_chain.h"

namespace tamis {
namespace {

using Place = Arena::Place;

/// Count and place in one number, so that both are published at once.
std::uint64_t packed(InsertedEntries inserted) {
  return std::uint64_t{inserted.entries} << 32 | static_cast<std::uint32_t>(inserted.newest);
}
InsertedEntries unpacked(std::uint64_t number) {
  return {static_cast<std::uint32_t>(number >> 32), Place{static_cast<std::uint32_t>(number)}};
}

Status no_memory() { return Status::out_of_space("no memory for the memtable"); }

/// On no entry; the status says why.
class FailedIterator final : public EntryIterator {
 public:
  explicit FailedIterator(Status error) : error_(std::move(error)) { show_error(error_); }

  void seek(EntryPosition /*target*/) override { show_error(error_); }
  void seek_to_first() override { show_error(error_); }
  void seek_to_last() override { show_error(error_); }
  void next() override { TAMIS_INVARIANT(valid()); }
  void previous() override { TAMIS_INVARIANT(valid()); }

 private:
  Status error_;
};

}  // namespace

struct Memtable::State {
  State(std::size_t full_size, std::shared_ptr<SpareMemory> spare)
      : full_at(full_size), memory(sizeof(State), std::move(spare)) {}

  [[nodiscard]] std::size_t expected_keys() const;

  const std::size_t full_at;
  MemoryCount memory;
  Arena arena{memory};
  HashIndex index{arena, memory};
  OrderOnDemand order{arena, memory};

  /// InsertedEntries, packed. The inserter's release store after each insert pairs with the acquire load in `iterate`,
  /// which then finds all these entries through their links.
  std::atomic<std::uint64_t> inserted = 0;
  std::atomic<Sequence> last_sequence = {};  // Relaxed: stored by the inserter before it is published.
  RangeDeleteList range_deletes{memory};
};

Memtable::Memtable(std::size_t full_at, std::shared_ptr<SpareMemory> spare)
    : state_(std::make_unique<State>(full_at, std::move(spare))) {}
Memtable::~Memtable() = default;

/// The estimated keys of a full memtable, from the entries so far; 0 while there are too few. So the index doubles
/// while it is small and cheap to copy, and then grows once: copying the slots of a large one would delay a single
/// write by milliseconds.
std::size_t Memtable::State::expected_keys() const {
  constexpr std::size_t kFewEntries = 8192;
  constexpr std::size_t kMinBytesOfASlot = 12;  // At most two thirds of the slots are taken.
  const std::size_t entries = unpacked(inserted.load(std::memory_order_relaxed)).entries;
  if (entries < kFewEntries) return 0;
  const std::size_t entries_when_full = full_at / (arena.used_bytes() / entries + kMinBytesOfASlot);
  return static_cast<std::size_t>(static_cast<double>(index.keys()) * static_cast<double>(entries_when_full) /
                                  static_cast<double>(entries));
}

Status Memtable::reserve(std::size_t entries, std::size_t key_and_value_bytes) {
  constexpr std::size_t kMaxBytesOfAnEntry = kMaxVersionBytes + Arena::kUnitBytes - 1;
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() * Arena::kUnitBytes;
  if (key_and_value_bytes > kMost || entries > kMost / kMaxBytesOfAnEntry) return no_memory();
  std::unique_ptr<HashIndex::Slots> larger;
  if (!state_->index.has_room_for(entries)) {
    larger = state_->index.make_larger(entries, state_->expected_keys());
    if (larger == nullptr) return no_memory();
  }
  if (!state_->arena.reserve(entries * kMaxBytesOfAnEntry + key_and_value_bytes)) return no_memory();
  if (larger != nullptr) state_->index.adopt(std::move(larger));
  return {};
}

void Memtable::insert(const Entry& entry, std::uint64_t hash) {
  TAMIS_INVARIANT(entry.sequence > last_sequence() || empty());
  TAMIS_INVARIANT(entry.kind != EntryKind::kRangeDelete);
  TAMIS_INVARIANT(entry.key.size() <= kMaxKeyBytes && entry.value.size() <= max_stored_bytes(entry.kind));
  TAMIS_CHECK(reserve(1, entry.key.size() + entry.value.size()).ok());  // Free if it was already reserved.
  State& state = *state_;
  const InsertedEntries before = unpacked(state.inserted.load(std::memory_order_relaxed));
  const HashIndex::Spot spot = state.index.locate(entry.key, hash);
  const Place place = add_version(state.arena, entry, spot.newest, before.newest);
  state.index.publish(spot, hash, place);
  state.inserted.store(packed({before.entries + 1, place}), std::memory_order_release);
  state.last_sequence.store(entry.sequence, std::memory_order_relaxed);
}

Status Memtable::prepare_range_delete(std::string_view from, std::string_view to) {
  return state_->range_deletes.prepare(from, to);
}
void Memtable::forget_prepared() { state_->range_deletes.forget_prepared(); }

void Memtable::insert_range_delete(const Entry& entry) {
  TAMIS_INVARIANT(entry.sequence > last_sequence() || empty());
  state_->range_deletes.insert(entry);
  state_->last_sequence.store(entry.sequence, std::memory_order_relaxed);
  has_range_deletes_.store(true, std::memory_order_release);
}

const RangeDeleteList& Memtable::range_deletes() const { return state_->range_deletes; }
Sequence Memtable::last_sequence() const { return state_->last_sequence.load(std::memory_order_relaxed); }

std::optional<FoundEntry> Memtable::find(const Lookup& lookup) const {
  const Place newest = state_->index.locate(lookup.key, lookup.hash).newest;
  if (newest == Place::kNone) return std::nullopt;
  const EntryRecord* record = &EntryRecord::at(state_->arena, newest);
  if (record->sequence > lookup.sequence) [[unlikely]] {
    record = find_older(state_->arena, *record, lookup.sequence);
    if (record == nullptr) return std::nullopt;
  }
  return FoundEntry{record->kind, record->sequence, record->value()};
}

void Memtable::prefetch(std::uint64_t hash) const { state_->index.prefetch(hash); }
void Memtable::prefetch_entry(std::uint64_t hash) const { state_->index.prefetch_entry(hash); }

std::unique_ptr<EntryIterator> Memtable::iterate() const {
  const InsertedEntries inserted = unpacked(state_->inserted.load(std::memory_order_acquire));
  try {
    return state_->order.iterate(inserted);
  } catch (const std::bad_alloc&) {
    return std::make_unique<FailedIterator>(no_memory());
  }
}

std::vector<SplitEntries> Memtable::iterate_split(Sequence split) const {
  const InsertedEntries inserted = unpacked(state_->inserted.load(std::memory_order_acquire));
  try {
    return state_->order.iterate_split(inserted, split);
  } catch (const std::bad_alloc&) {
    std::vector<SplitEntries> failed;
    failed.push_back({.iterator = std::make_unique<FailedIterator>(no_memory())});
    return failed;
  }
}

std::uint64_t Memtable::entries() const { return unpacked(state_->inserted.load(std::memory_order_relaxed)).entries; }
std::size_t Memtable::memory_bytes() const { return state_->memory; }

}  // namespace tamis
