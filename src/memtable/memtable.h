// Recent writes, in memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "memtable/range_delete_list.h"
#include "memtable/spare_memory.h"
#include "memtable/split_entries.h"
#include "tamis/status.h"

namespace tamis {

/// Recent writes until they are flushed; found by hash, sorted on demand for a scan or the flush.
///
/// Invariants:
///  1. An entry is never changed or removed once inserted; overwriting a key adds a version.
///  2. A slot points to the newest version of a key, which links to older ones (version_chain.h).
///  3. After reserve(n, b) succeeds, inserting n entries with b bytes of keys and values cannot fail.
///
/// Threads: one inserter at a time (the commit leader); any number of readers, which never wait for it, as long as they
/// keep this memtable alive. A reader that began before an insert may or may not see the entry: Lookup::sequence
/// decides what it returns.
class Memtable {
 public:
  /// `full_at`: the memory_bytes() at which it is sealed, for estimating the number of keys; 0: unknown.
  explicit Memtable(std::size_t full_at = 0, std::shared_ptr<SpareMemory> spare = nullptr);
  ~Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// kOutOfSpace if memory is short; then nothing changes.
  Status reserve(std::size_t entries, std::size_t key_and_value_bytes);
  /// The same for a range delete, as RangeDeleteList::prepare.
  Status prepare_range_delete(std::string_view from, std::string_view to);
  void forget_prepared();
  /// Sequences must ascend from insert to insert; `hash` is from the store's KeyHasher. Copies the entry's bytes.
  /// Without a reservation it allocates, and aborts the program if memory is short. Not for range deletes.
  void insert(const Entry& entry, std::uint64_t hash);
  /// Of the kind kRangeDelete.
  void insert_range_delete(const Entry& entry);

  /// The newest version at or below the lookup's sequence. Its value is valid as long as this memtable.
  [[nodiscard]] std::optional<FoundEntry> find(const Lookup& lookup) const;
  /// Prefetches what `find` needs.
  void prefetch(std::uint64_t hash) const;
  /// The second step, once the first has loaded: the entry itself.
  void prefetch_entry(std::uint64_t hash) const;
  /// Iterates over all entries inserted before this call, and possibly later ones. The memtable must outlive it. If
  /// memory for sorting is short, its status is kOutOfSpace from the start.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate() const;
  /// The same in at most two parts: as many entries as possible that are older than `split`, and the others.
  [[nodiscard]] std::vector<SplitEntries> iterate_split(Sequence split) const;

  /// Kept apart from the other entries: neither `find` nor an iterator knows of them.
  [[nodiscard]] const RangeDeleteList& range_deletes() const;
  [[nodiscard]] bool has_range_deletes() const { return has_range_deletes_.load(std::memory_order_acquire); }

  [[nodiscard]] bool empty() const { return entries() == 0 && !has_range_deletes(); }
  /// Without range deletes.
  [[nodiscard]] std::uint64_t entries() const;
  /// Of the last insert; what a reader that began before it reads here is at most that.
  [[nodiscard]] Sequence last_sequence() const;
  /// All memory taken from the allocator or the spare memory.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct State;
  /// Set with release after the first range delete was inserted.
  std::atomic<bool> has_range_deletes_ = false;
  std::unique_ptr<State> state_;
};

/// Of any kind.
template <typename Hasher>
void insert_entry(Memtable& memtable, const Entry& entry, const Hasher& hasher) {
  if (entry.kind == EntryKind::kRangeDelete) [[unlikely]]
    return memtable.insert_range_delete(entry);
  memtable.insert(entry, hasher(entry.key));
}

}  // namespace tamis
