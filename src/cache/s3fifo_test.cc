// The order in which blocks leave, compared with a simulator that is slow and obvious, and what a scan does to the hot
// blocks.
#include "cache/s3fifo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <deque>

#include "base/zipf.h"
#include "cache/cache_test_support.h"

namespace tamis {
namespace {

/// The paper's algorithm 1, sizes in bytes, by linear search: one cache of one shard.
class Simulator {
 public:
  explicit Simulator(std::size_t capacity)
      : capacity_(capacity),
        most_ghosts_(capacity < 4096 ? 0 : std::bit_ceil(capacity / 4096)),
        room_(capacity - 16 * most_ghosts_) {}

  /// Whether the block was there.
  bool request(const BlockKey& key, std::size_t charge) {
    for (Items* items : {&small_, &main_}) {
      if (const auto item = find(*items, key); item != items->end()) {
        item->frequency = std::min(item->frequency + 1, 3);
        return true;
      }
    }
    if (charge > room_) return false;
    while (bytes(small_) + bytes(main_) + charge > room_) evict();
    (take_ghost(key) ? main_ : small_).push_back({key, charge});
    return false;
  }

 private:
  struct Item {
    BlockKey key;
    std::size_t charge = 0;
    int frequency = 0;
  };
  /// Front is oldest.
  using Items = std::deque<Item>;

  static Items::iterator find(Items& items, const BlockKey& key) {
    return std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.key == key; });
  }
  static std::size_t bytes(const Items& items) {
    std::size_t sum = 0;
    for (const Item& item : items) sum += item.charge;
    return sum;
  }

  void evict() {
    if (!small_.empty() && (bytes(small_) >= capacity_ / 10 || main_.empty())) return evict_small();
    const Item oldest = main_.front();
    main_.pop_front();
    if (oldest.frequency > 0) main_.push_back({oldest.key, oldest.charge, oldest.frequency - 1});
  }

  void evict_small() {
    const Item oldest = small_.front();
    small_.pop_front();
    if (oldest.frequency > 1) {
      main_.push_back({oldest.key, oldest.charge});
      return;
    }
    ghosts_.push_back(oldest);
    while (ghosts_.size() > most_ghosts_ || bytes(ghosts_) > capacity_ - capacity_ / 10) ghosts_.pop_front();
  }

  /// One that is taken goes on counting among the last that came, without its bytes.
  bool take_ghost(const BlockKey& key) {
    for (Item& ghost : ghosts_) {
      if (ghost.charge == 0 || ghost.key != key) continue;
      ghost.charge = 0;
      return true;
    }
    return false;
  }

  std::size_t capacity_;
  std::size_t most_ghosts_;
  std::size_t room_;
  Items small_;
  Items main_;
  Items ghosts_;
};

struct Trace {
  const char* name;
  std::size_t capacity;
  double skew;
  std::size_t (*size)(std::uint32_t block);
  std::uint32_t scan_every = 0;  // A run of 40 blocks that nobody asks for again, so often.
};

constexpr Trace kTraces[] = {
    {.name = "equal", .capacity = 1 << 20, .skew = 0.9, .size = [](std::uint32_t) -> std::size_t { return 4096; }},
    // A tenth of the capacity is a whole number of blocks: the small queue can be exactly full.
    {.name = "exact",
     .capacity = 10 * 13 * 4096,
     .skew = 0.9,
     .size = [](std::uint32_t) -> std::size_t { return 4096 - kFrameOverheadBytes; }},
    {.name = "small", .capacity = 1 << 17, .skew = 0.7, .size = [](std::uint32_t) -> std::size_t { return 200; }},
    {.name = "random",
     .capacity = 777'777,
     .skew = 0.99,
     .size = [](std::uint32_t block) -> std::size_t { return remix(block) % 9000; }},
    {.name = "large",
     .capacity = 300'000,
     .skew = 1.1,
     .size = [](std::uint32_t block) -> std::size_t {
       return block % 5 == 0 ? 100'000 : block % 7 == 0 ? 400'000 : 9;
     }},
    {.name = "scans",
     .capacity = 1 << 20,
     .skew = 0.9,
     .size = [](std::uint32_t block) -> std::size_t { return 2000 + block % 4000; },
     .scan_every = 200},
};

TEST(S3Fifo, AgreesWithItsSimulatorOnEveryRequest) {
  for (const Trace& trace : kTraces) {
    SCOPED_TRACE(trace.name);
    const auto cache = make_cache(trace.capacity);
    Simulator simulator(trace.capacity);
    ZipfDraws draws(5000, trace.skew, 42);
    std::uint32_t next_scanned = 1'000'000;
    std::uint64_t hits = 0;
    const auto both = [&](const BlockKey& key) {
      const std::size_t size = trace.size(key.block);
      const bool hit = cache->find(key) ? true : ((void)cache->insert(key, BlockBuffer::unset(0), size), false);
      hits += hit ? 1 : 0;
      return hit == simulator.request(key, size + kFrameOverheadBytes);
    };
    for (std::uint32_t i = 0; i < 15'000; ++i) {
      const std::uint32_t block = draws.next();
      ASSERT_TRUE(both({block % 3, block})) << "request " << i;
      if (trace.scan_every == 0 || i % trace.scan_every != 0) continue;
      for (int j = 0; j < 40; ++j) ASSERT_TRUE(both({7, next_scanned++})) << "scan after request " << i;
    }
    EXPECT_EQ(cache->stats().hits, hits);
    EXPECT_GT(hits, 1000U);
    EXPECT_GT(cache->stats().evictions, 100U);
  }
}

/// Of a hot set that fills half the cache and was asked for a few times, the share that is still there after one scan
/// of ten times the cache.
double kept_after_scan(std::size_t shards) {
  constexpr std::size_t kBlockBytes = 4096;
  constexpr std::uint32_t kHot = 4000;
  const auto cache = make_cache(2 * kHot * (kBlockBytes + kFrameOverheadBytes), shards);
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t i = 0; i < kHot; ++i) request(*cache, {1, i}, kBlockBytes);
  }
  for (std::uint32_t i = 0; i < 20 * kHot; ++i) request(*cache, {2, i}, kBlockBytes);
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < kHot; ++i) kept += cache->find({1, i}) ? 1 : 0;
  return static_cast<double>(kept) / kHot;
}

TEST(ScanResistance, S3FifoKeepsTheHotSet) {
  for (const std::size_t shards : {1U, 4U}) EXPECT_GE(kept_after_scan(shards), 0.95);
}

TEST(ScanResistance, S3FifoRecognisesABlockItTurnedAwayTooEarly) {
  constexpr std::size_t kBlockBytes = 4096;
  constexpr std::uint32_t kFits = 100;
  const auto cache = make_cache((kFits + 1) * (kBlockBytes + kFrameOverheadBytes));
  request(*cache, {1, 0}, kBlockBytes);
  for (std::uint32_t i = 0; i < kFits; ++i) request(*cache, {2, i}, kBlockBytes);
  ASSERT_FALSE(request(*cache, {1, 0}, kBlockBytes)) << "left through the small queue, is back as a ghost's owner";
  for (std::uint32_t i = 0; i < 5 * kFits; ++i) request(*cache, {3, i}, kBlockBytes);
  EXPECT_TRUE(cache->find({1, 0})) << "and now in the main queue, which scans do not reach";
}

}  // namespace
}  // namespace tamis
