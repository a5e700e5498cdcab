#include "base/slot_memory.h"

#include <array>
#include <cstdint>
#include <new>

#include "base/check.h"
#include "base/mapped_memory.h"
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

/// Stored in a free slot.
struct FreeSlot {
  FreeSlot* next;
};

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
  std::byte* take(std::size_t slot_bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    SpanList& with_room = with_room_[slot_bytes / SlotMemory::kStepBytes];
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

  void give_back(std::byte* slot, std::size_t slot_bytes) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    Chunk& chunk = Chunk::of(slot);
    Span& span = chunk.span_of(slot);
    TAMIS_INVARIANT(span.slot_bytes == slot_bytes && span.used > 0);
    SpanList& with_room = with_room_[slot_bytes / SlotMemory::kStepBytes];
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

/// Never destroyed: buffers may be freed during exit.
Slots& slots() {
  static Slots& all = *new Slots;
  return all;
}

}  // namespace

std::byte* SlotMemory::take(std::size_t size) {
  TAMIS_INVARIANT(size >= kMinBytes && size <= kMaxBytes);
  return slots().take(slot_bytes(size));
}

void SlotMemory::give_back(std::byte* slot, std::size_t size) { slots().give_back(slot, slot_bytes(size)); }

std::size_t SlotMemory::chunk_bytes() { return slots().chunk_bytes(); }
std::size_t SlotMemory::free_bytes() { return slots().free_bytes(); }
void SlotMemory::change_allowance(std::size_t from_bytes, std::size_t to_bytes) {
  slots().change_allowance(from_bytes, to_bytes);
}

}  // namespace tamis
