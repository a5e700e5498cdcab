// One inserter and several concurrent readers, for ThreadSanitizer; checks that all see what they must.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "memtable/memtable.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeys = 3000;
constexpr std::uint64_t kEntries = 40'000;
constexpr int kReaders = 3;
const KeyHasher kHasher(3);

/// Entry i has sequence i, which determines key and value, so that readers know what they must find.
std::uint64_t key_number(std::uint64_t sequence) { return sequence < kKeys ? sequence : remix(sequence) % kKeys; }
std::string key_of(std::uint64_t sequence) { return "key " + std::to_string(key_number(sequence)); }
std::string value_of(std::uint64_t sequence) { return std::to_string(sequence); }

struct Shared {
  Memtable memtable;
  std::atomic<std::uint64_t> published = 0;  // The inserter's release store pairs with the readers' acquire load.
  std::atomic<int> reading = 0;              // Each reader's add pairs with the inserter's load: all begin together.
  std::atomic<std::uint64_t> wrong = 0;
};

void insert_all(Shared& shared) {
  while (shared.reading < kReaders) std::this_thread::yield();
  for (std::uint64_t sequence = 1; sequence <= kEntries; ++sequence) {
    const std::string key = key_of(sequence);
    const std::string value = value_of(sequence);
    if (sequence % 10 == 0 && !shared.memtable.reserve(1, key.size() + value.size()).ok()) ++shared.wrong;
    shared.memtable.insert({key, value, Sequence{sequence}, EntryKind::kPut}, kHasher(key));
    shared.published.store(sequence, std::memory_order_release);
  }
}

/// A key written at or before the snapshot is found at that version, or a newer one up to the snapshot.
void find_some(Shared& shared, std::mt19937_64& random, std::uint64_t snapshot) {
  const std::uint64_t written = 1 + random() % snapshot;
  const std::string key = key_of(written);
  const auto found = shared.memtable.find({key, kHasher(key), Sequence{snapshot}});
  if (!found) {
    ++shared.wrong;
    return;
  }
  const std::uint64_t sequence = number_of(found->sequence);
  const bool is_right = sequence >= written && sequence <= snapshot && key_number(sequence) == key_number(written) &&
                        found->value == value_of(sequence);
  if (!is_right) ++shared.wrong;
}

/// In order, each once, and everything published before.
void walk(Shared& shared, std::uint64_t published, bool forwards) {
  const auto iterator = shared.memtable.iterate();
  std::uint64_t seen = 0;
  std::string last_key;
  Sequence last_sequence = {};
  for (forwards ? iterator->seek_to_first() : iterator->seek_to_last(); iterator->valid();
       forwards ? iterator->next() : iterator->previous()) {
    const Entry& entry = iterator->entry();
    const EntryPosition last{last_key, last_sequence};
    const bool is_ordered = forwards ? last < entry.position() : entry.position() < last;
    if (last_sequence != Sequence{} && !is_ordered) ++shared.wrong;
    if (entry.value != value_of(number_of(entry.sequence))) ++shared.wrong;
    if (number_of(entry.sequence) <= published) ++seen;
    last_key = entry.key;
    last_sequence = entry.sequence;
  }
  if (seen != published || !iterator->status().ok()) ++shared.wrong;
}

void read_until_the_end(Shared& shared, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uint64_t published = 0;
  ++shared.reading;
  while (published < kEntries) {
    published = shared.published.load(std::memory_order_acquire);
    if (published == 0) continue;
    for (int i = 0; i < 200; ++i) find_some(shared, random, published);
    if (shared.memtable.entries() < published) ++shared.wrong;
    if (random() % 4 == 0) walk(shared, published, random() % 2 == 0);
    if (shared.memtable.memory_bytes() < published * 24) ++shared.wrong;
  }
}

TEST(MemtableThreads, ReadersSeeWhatWasPublishedWhileTheInserterGoesOn) {
  Shared shared;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 1; seed <= kReaders; ++seed)
      threads.emplace_back([&, seed] { read_until_the_end(shared, seed); });
    threads.emplace_back([&] { insert_all(shared); });
  }
  EXPECT_EQ(shared.wrong, 0U);
  walk(shared, kEntries, true);
  EXPECT_EQ(shared.wrong, 0U);
}

}  // namespace
}  // namespace tamis
