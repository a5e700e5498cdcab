#include "base/slot_memory.h"

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/mapped_memory.h"
#include "base/sharded_counter.h"
#include "base/sync.h"

namespace tamis {
namespace {

constexpr std::size_t kSpansPerChunk = 4;
constexpr std::size_t kSpanBytes = kLargePageBytes / kSpansPerChunk;
constexpr std::size_t kClasses = SlotMemory::kMaxBytes / SlotMemory::kStepBytes + 1;
/// The reach of a second-level TLB with small pages.
constexpr std::size_t kChunksOfSmallPages = 4;
/// So that a block that comes and goes does not map and unmap a chunk each time.
constexpr std::size_t kFreeSpansKept = kSpansPerChunk;

/// Of a stock (class Stock): as many slots as a thread may need soon, and little beside a cache.
constexpr std::size_t kStocks = 16;
constexpr std::size_t kStockBytes = std::size_t{256} << 10;
constexpr std::size_t kSlotsAtOnce = 8;

/// Stored in a free slot.
struct FreeSlot {
  FreeSlot* next;
};
using FreeSlots = std::array<FreeSlot*, kClasses>;  // Of each size.

constexpr std::size_t class_of(std::size_t slot_bytes) { return slot_bytes / SlotMemory::kStepBytes; }

/// Slots of one size, some in use; or free, with slot_bytes 0.
struct Span {
  std::byte* begin = nullptr;
  std::byte* end = nullptr;
  std::byte* untouched = nullptr;  // Slots from here on were never used.
  FreeSlot* free = nullptr;
  std::size_t slot_bytes = 0;
  std::size_t used = 0;
  Span* before = nullptr;  // In the list of its size's spans with free slots, or of the free spans.
  Span* after = nullptr;

  [[nodiscard]] bool has_room() const {
    return free != nullptr || static_cast<std::size_t>(end - untouched) >= slot_bytes;
  }
};

class SpanList {
 public:
  [[nodiscard]] Span* first() const { return first_; }
  void add(Span& span) {
    span.before = nullptr;
    span.after = first_;
    if (first_ != nullptr) first_->before = &span;
    first_ = &span;
  }
  void remove(Span& span) {
    (span.before != nullptr ? span.before->after : first_) = span.after;
    if (span.after != nullptr) span.after->before = span.before;
    span.before = span.after = nullptr;
  }

 private:
  Span* first_ = nullptr;
};

/// Stored at the start of its own memory.
struct Chunk {
  std::array<Span, kSpansPerChunk> spans;
  std::size_t spans_in_use = 0;

  static Chunk& of(std::byte* slot) {
    const auto address = reinterpret_cast<std::uintptr_t>(slot);
    return *reinterpret_cast<Chunk*>(slot - address % kLargePageBytes);
  }
  Span& span_of(const std::byte* slot) {
    return spans[static_cast<std::size_t>(slot - reinterpret_cast<std::byte*>(this)) / kSpanBytes];
  }
};
constexpr std::size_t kChunkHeadBytes = SlotMemory::slot_bytes(sizeof(Chunk));

class Slots {
 public:
  /// Chains up to `count` slots in front of `to`; fewer if the kernel has no memory. Returns how many.
  std::size_t take(std::size_t slot_bytes, std::size_t count, FreeSlot*& to) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const slot = take_one(slot_bytes);
      if (slot == nullptr) return i;
      to = new (slot) FreeSlot{to};
    }
    return count;
  }

  /// Takes back all of them and leaves none.
  void give_back(FreeSlots& slots) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (std::size_t of_size = 0; of_size < kClasses; ++of_size) {
      while (FreeSlot* const slot = slots[of_size]) {
        slots[of_size] = slot->next;
        give_back_one(reinterpret_cast<std::byte*>(slot), of_size * SlotMemory::kStepBytes);
      }
    }
  }

  void change_allowance(std::size_t from_bytes, std::size_t to_bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    TAMIS_INVARIANT(allowance_bytes_ >= from_bytes);
    allowance_bytes_ += to_bytes - from_bytes;
    for (Span* span = free_spans_.first(); span != nullptr && has_too_many();) {
      Chunk& chunk = Chunk::of(span->begin);
      span = span->after;
      if (chunk.spans_in_use > 0) continue;
      while (span != nullptr && &Chunk::of(span->begin) == &chunk) span = span->after;  // They go with the chunk.
      unmap(chunk);
    }
  }

  std::size_t chunk_bytes() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return chunks_ * kLargePageBytes;
  }
  std::size_t free_bytes() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return free_chunks_ * kLargePageBytes;
  }

 private:
  std::byte* take_one(std::size_t slot_bytes) REQUIRES(mutex_) {
    SpanList& with_room = with_room_[class_of(slot_bytes)];
    Span* const span = with_room.first() != nullptr ? with_room.first() : begin_span(slot_bytes, with_room);
    if (span == nullptr) return nullptr;
    ++span->used;
    std::byte* slot = span->untouched;
    if (span->free != nullptr) {
      slot = reinterpret_cast<std::byte*>(span->free);
      span->free = span->free->next;
    } else {
      span->untouched += slot_bytes;
    }
    if (!span->has_room()) with_room.remove(*span);
    return slot;
  }

  void give_back_one(std::byte* slot, std::size_t slot_bytes) REQUIRES(mutex_) {
    Chunk& chunk = Chunk::of(slot);
    Span& span = chunk.span_of(slot);
    TAMIS_INVARIANT(span.slot_bytes == slot_bytes && span.used > 0);
    SpanList& with_room = with_room_[class_of(slot_bytes)];
    if (!span.has_room()) with_room.add(span);
    span.free = new (slot) FreeSlot{span.free};
    if (--span.used > 0) return;
    with_room.remove(span);
    span.slot_bytes = 0;
    free_spans_.add(span);
    ++free_count_;
    if (--chunk.spans_in_use > 0) return;
    ++free_chunks_;
    if (has_too_many()) unmap(chunk);
  }

  /// Whether free chunks should be unmapped.
  [[nodiscard]] bool has_too_many() const REQUIRES(mutex_) {
    return free_chunks_ > 0 && free_count_ >= kFreeSpansKept + kSpansPerChunk &&
           chunks_ * kLargePageBytes > allowance_bytes_;
  }

  Span* begin_span(std::size_t slot_bytes, SpanList& with_room) REQUIRES(mutex_) {
    if (free_spans_.first() == nullptr && !map_chunk()) return nullptr;
    Span& span = *free_spans_.first();
    free_spans_.remove(span);
    --free_count_;
    if (Chunk::of(span.begin).spans_in_use++ == 0) --free_chunks_;
    span.untouched = span.begin;
    span.free = nullptr;
    span.slot_bytes = slot_bytes;
    with_room.add(span);
    return &span;
  }

  bool map_chunk() REQUIRES(mutex_) {
    std::byte* const memory = map_memory(kLargePageBytes, kLargePageBytes);
    if (memory == nullptr) return false;
    if (++chunks_ > kChunksOfSmallPages) ask_for_large_pages(memory, kLargePageBytes);
    auto* const chunk = new (memory) Chunk;
    for (std::size_t i = kSpansPerChunk; i-- > 0;) {  // So that the first ends up at the front of the list.
      Span& span = chunk->spans[i];
      span.begin = memory + (i == 0 ? kChunkHeadBytes : i * kSpanBytes);
      span.end = memory + (i + 1) * kSpanBytes;
      free_spans_.add(span);
    }
    free_count_ += kSpansPerChunk;
    ++free_chunks_;
    return true;
  }

  void unmap(Chunk& chunk) REQUIRES(mutex_) {
    for (Span& span : chunk.spans) free_spans_.remove(span);
    free_count_ -= kSpansPerChunk;
    --free_chunks_;
    --chunks_;
    unmap_memory(reinterpret_cast<std::byte*>(&chunk), kLargePageBytes);
  }

  Mutex mutex_;
  std::array<SpanList, kClasses> with_room_ GUARDED_BY(mutex_);
  SpanList free_spans_ GUARDED_BY(mutex_);
  std::size_t free_count_ GUARDED_BY(mutex_) = 0;
  std::size_t chunks_ GUARDED_BY(mutex_) = 0;
  std::size_t free_chunks_ GUARDED_BY(mutex_) = 0;  // Without a used span.
  std::size_t allowance_bytes_ GUARDED_BY(mutex_) = 0;
};

/// Free slots for some of the threads, which therefore meet the others only once in several slots.
///
/// Invariant: at most kStockBytes.
///
/// Threads: any. Its mutex is taken before that of Slots.
class alignas(kCacheLineBytes) Stock {
 public:
  std::byte* take(std::size_t slot_bytes, Slots& all) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    FreeSlot*& first = slots_[class_of(slot_bytes)];
    if (first == nullptr) {
      if (bytes_ + kSlotsAtOnce * slot_bytes > kStockBytes) empty(all);
      bytes_ += slot_bytes * all.take(slot_bytes, kSlotsAtOnce, first);
      if (first == nullptr) return nullptr;
    }
    bytes_ -= slot_bytes;
    return reinterpret_cast<std::byte*>(std::exchange(first, first->next));
  }
  void give_back(std::byte* slot, std::size_t slot_bytes, Slots& all) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (bytes_ + slot_bytes > kStockBytes) empty(all);
    FreeSlot*& first = slots_[class_of(slot_bytes)];
    first = new (slot) FreeSlot{first};
    bytes_ += slot_bytes;
  }
  void give_all_back(Slots& all) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    empty(all);
  }

 private:
  void empty(Slots& all) REQUIRES(mutex_) {
    all.give_back(slots_);
    bytes_ = 0;
  }

  Mutex mutex_;
  FreeSlots slots_ GUARDED_BY(mutex_) = {};
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;
};

struct AllSlots {
  Slots slots;
  std::array<Stock, kStocks> stocks;

  Stock& stock() { return stocks[thread_number() % kStocks]; }
  /// So that no stock keeps a chunk that is not used otherwise.
  Slots& emptied() {
    for (Stock& stock : stocks) stock.give_all_back(slots);
    return slots;
  }
};

/// Never destroyed: buffers may be freed during exit.
AllSlots& all() {
  static AllSlots& slots = *new AllSlots;
  return slots;
}

}  // namespace

std::byte* SlotMemory::take(std::size_t size) {
  TAMIS_INVARIANT(size >= kMinBytes && size <= kMaxBytes);
  return all().stock().take(slot_bytes(size), all().slots);
}

void SlotMemory::give_back(std::byte* slot, std::size_t size) {
  all().stock().give_back(slot, slot_bytes(size), all().slots);
}

std::size_t SlotMemory::chunk_bytes() { return all().emptied().chunk_bytes(); }
std::size_t SlotMemory::free_bytes() { return all().slots.free_bytes(); }
void SlotMemory::change_allowance(std::size_t from_bytes, std::size_t to_bytes) {
  all().emptied().change_allowance(from_bytes, to_bytes);
}

}  // namespace tamis
