// Recent writes, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "entry/entry.h"
#include "entry/entry_iterator.h"
#include "memtable/spare_memory.h"
#include "tamis/status.h"

namespace tamis {

/// Recent writes until they are flushed; found by hash, ordered when a scan or the flush asks.
///
/// Invariants:
///  1. An entry is never changed or removed once inserted; overwriting a key adds a version.
///  2. A slot leads to the newest version of a key; older ones are chained behind it (version_chain.h).
///  3. After reserve(n, b) has succeeded, inserting n entries with b bytes of keys and values cannot fail.
///
/// Threads: one inserter at a time (the commit leader); any number of readers, without waiting for it, as long as they
/// keep this memtable alive. A reader that began before an insert may or may not see the entry: Lookup::sequence
/// decides what it is shown.
class Memtable {
 public:
  /// `full_at`: the memory_bytes() at which it will be sealed, for judging how many keys will come; 0: not known.
  explicit Memtable(std::size_t full_at = 0, std::shared_ptr<SpareMemory> spare = nullptr);
  ~Memtable();
  Memtable(const Memtable&) = delete;
  Memtable& operator=(const Memtable&) = delete;

  /// kOutOfSpace when the memory is not to be had; nothing has changed then.
  Status reserve(std::size_t entries, std::size_t key_and_value_bytes);
  /// Sequences must ascend from insert to insert; `hash` is the store's KeyHasher's. The entry's bytes are copied.
  /// Without a reservation it takes the memory itself, and stops the program when there is none.
  void insert(const Entry& entry, std::uint64_t hash);

  /// The newest version at or below the lookup's sequence. Its value lives as long as this memtable.
  [[nodiscard]] std::optional<FoundEntry> find(const Lookup& lookup) const;
  /// Starts loading what `find` will need.
  void prefetch(std::uint64_t hash) const;
  /// The second step, once the first has arrived: the entry itself.
  void prefetch_entry(std::uint64_t hash) const;
  /// Walks over all entries that were inserted before this call, and maybe over later ones. The memtable must outlive
  /// it. When memory for the order is not to be had, its status is kOutOfSpace from the start.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate() const;

  [[nodiscard]] bool empty() const { return entries() == 0; }
  [[nodiscard]] std::uint64_t entries() const;
  /// Everything this memtable has taken from the allocator or from the spare memory.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tamis
