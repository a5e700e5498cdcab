// Scans across keys that are gone: what they pass by a seek must be what they would have stepped over.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "support/merging_store.h"
#include "support/open_db.h"
#include "support/seed.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

std::string key(std::uint64_t i) { return fmt::format("{:06}", i); }

/// What a key holds: a value that may expire, and operands that were appended.
struct Cell {
  std::optional<std::string> base;
  std::uint64_t due = ~std::uint64_t{0};
  std::string operands;

  [[nodiscard]] std::optional<std::string> value(std::uint64_t time) const {
    const bool has_base = base && time < due;
    if (!has_base && operands.empty()) return std::nullopt;
    return (has_base ? *base : "") + operands;
  }
};

struct Model {
  std::map<std::string, Cell> cells;
  std::uint64_t time = 0;

  [[nodiscard]] std::vector<std::string> all(const std::string& from) const {
    std::vector<std::string> texts;
    for (auto at = cells.lower_bound(from); at != cells.end(); ++at) {
      if (const std::optional<std::string> value = at->second.value(time)) texts.push_back(at->first + "=" + *value);
    }
    return texts;
  }
};

/// A store and its model, with operations that leave long stretches of deleted keys.
class RandomQueue {
 public:
  explicit RandomQueue(std::uint64_t seed)
      : store_(Options{.memory_bytes = 4 << 20,
                       .memtable_bytes = 64 << 10,
                       .table_bytes = 32 << 10,
                       .compaction = seed % 2 == 0 ? "leveled" : "manual",
                       .merge_operator = "append"}),
        random_(static_cast<std::mt19937::result_type>(seed)) {}

  void step() {
    model_.time = store_.clock.load();
    switch (below(16)) {
      case 0:
      case 1:
      case 2: return push();
      case 3:
      case 4:
      case 5: return pop(1 + below(40));
      case 6: return put(key(below(tail_ + 1)));
      case 7: return remove_singly();
      case 8: return remove_range();
      case 9: return merge(key(below(tail_ + 1)));
      case 10: return pass_time();
      case 11: return take_snapshot();
      case 12: return rewrite();
      default: return check();
    }
  }
  void check() {
    const std::string from = key(below(tail_ + 1));
    expect_same(model_, from, nullptr);
    expect_same(model_, "", nullptr);
    for (const auto& [snapshot, then] : snapshots_) expect_same(then, from, &snapshot);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  void push() {
    for (std::uint64_t i = below(60); i > 0; --i) put(key(tail_++));
  }
  void put(const std::string& at) {
    const std::string value = fmt::format("v{}", ++writes_);
    const std::uint64_t life = below(6) == 0 ? 1 + below(50) : 0;
    store_.put(at, value, std::chrono::milliseconds(life));
    model_.cells[at] = {value, life == 0 ? ~std::uint64_t{0} : store_.clock + life, ""};
  }
  void merge(const std::string& at) {
    store_.merge(at, fmt::format("+{}", ++writes_));
    Cell& cell = model_.cells[at];
    if (cell.base && store_.clock >= cell.due) cell.base.reset();
    cell.operands += fmt::format("+{}", writes_);
  }
  void pop(std::uint64_t count) {
    for (; count > 0; --count) {
      const std::vector<std::string> expected = model_.all("");
      const Iterator at = store_.db->scan();
      ASSERT_EQ(at.valid() ? fmt::format("{}={}", at.key(), at.value()) : "", expected.empty() ? "" : expected.front());
      if (!at.valid()) return;
      remove(std::string(at.key()));
    }
  }
  void remove(const std::string& at) {
    ASSERT_TRUE(store_.db->remove(at).ok());
    model_.cells.erase(at);
  }
  void remove_singly() {
    const std::uint64_t first = below(tail_ + 1);
    const std::uint64_t last = first + (below(3) == 0 ? 300 : 30);  // Many are walked over as they are deleted.
    for (std::uint64_t i = first; i < last; ++i) remove(key(i));
  }
  void remove_range() {
    const std::string from = key(below(tail_ + 1));
    const std::string to = key(below(tail_ + 1));
    if (from >= to || below(3) != 0) return;
    ASSERT_TRUE(store_.db->remove_range(from, to).ok());
    model_.cells.erase(model_.cells.lower_bound(from), model_.cells.lower_bound(to));
  }
  void pass_time() {
    store_.clock += below(20);
    model_.time = store_.clock;
  }
  void take_snapshot() {
    if (below(2) == 0 && !snapshots_.empty()) {
      snapshots_.erase(snapshots_.begin() + static_cast<std::ptrdiff_t>(below(snapshots_.size())));
    } else if (snapshots_.size() < 3) {
      snapshots_.emplace_back(store_.db->snapshot(), model_);
    }
  }
  void rewrite() {
    if (below(2) == 0) {
      ASSERT_TRUE(store_.db->flush().ok());
    } else {
      ASSERT_TRUE(store_.db->compact().ok());
    }
  }
  void expect_same(const Model& model, const std::string& from, const Snapshot* snapshot) {
    const std::vector<std::string> expected = model.all(from);
    std::vector<std::string> found;
    Iterator at = store_.db->scan({.from = from, .snapshot = snapshot});
    for (; at.valid(); at.next()) found.push_back(fmt::format("{}={}", at.key(), at.value()));
    ASSERT_TRUE(at.status().ok());
    ASSERT_EQ(found, expected);
    found.clear();
    Iterator back = store_.db->scan({.from = from, .reverse = true, .snapshot = snapshot});
    for (; back.valid(); back.advance()) found.push_back(fmt::format("{}={}", back.key(), back.value()));
    std::ranges::reverse(found);
    ASSERT_EQ(found, expected) << "backwards";
  }

  test::MergingStore store_;
  std::mt19937 random_;
  Model model_;
  std::vector<std::pair<Snapshot, Model>> snapshots_;
  std::uint64_t tail_ = 0;
  std::uint64_t writes_ = 0;
};

TEST(EmptyRangesScan, Rule25_ShowsWhatAModelShows) {
  for (std::uint64_t run = 0; run < 12; ++run) {
    const std::uint64_t seed = test::base_seed(900 + run);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomQueue queue(seed);
    for (int i = 0; i < 700; ++i) {
      queue.step();
      if (testing::Test::HasFatalFailure()) return;
    }
    queue.check();
  }
}

/// A value that was written after the range was found empty must not get a sequence from before.
TEST(EmptyRangesScan, Rule25_ShowsAValueWhoseSequenceARewriteWouldDrop) {
  MemoryFileSystem files;
  DB db = test::open_db(files);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db.put(key(i), "v").ok());
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(db.remove(key(i)).ok());
  EXPECT_EQ(db.scan().key(), key(90));  // Finds out that everything before is empty.
  ASSERT_TRUE(db.put(key(50), "again").ok());
  for (int rewrites = 0; rewrites < 3; ++rewrites) {
    ASSERT_TRUE(db.compact().ok());
    EXPECT_EQ(db.scan().key(), key(50)) << rewrites;
    ASSERT_TRUE(db.put(key(200 + rewrites), "v").ok());
  }
}

TEST(EmptyRangesScan, Rule40_KeysThatATransactionDeletesStayForOthers) {
  MemoryFileSystem files;
  DB db = test::open_db(files);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db.put(key(i), "v").ok());
  Transaction transaction = db.begin();
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(transaction.remove(key(i)).ok());
  EXPECT_EQ(transaction.scan().key(), key(90));
  EXPECT_EQ(db.scan().key(), key(0));
}

TEST(EmptyRangesScan, WhatAScanReadsInVainIsNotCached) {
  MemoryFileSystem files;
  const Options options = {.memory_bytes = 8 << 20, .compaction = "manual"};
  const auto cached = [](const DB& db) { return db.stats().memory.blocks; };
  constexpr int kDeleted = 20'000;
  {
    DB db = test::open_db(files, options);
    for (int i = 0; i < kDeleted + 1000; ++i) ASSERT_TRUE(db.put(key(i), std::string(100, 'v')).ok());
    ASSERT_TRUE(db.flush().ok());
    for (int i = 0; i < kDeleted; ++i) ASSERT_TRUE(db.remove(key(i)).ok());
    ASSERT_TRUE(db.flush().ok());
    ASSERT_TRUE(db.close().ok());
  }
  DB db = test::open_db(files, options);
  Iterator at = db.scan();
  ASSERT_EQ(at.key(), key(kDeleted));
  const std::uint64_t in_vain = cached(db);
  EXPECT_LT(in_vain, 200'000U) << "of two million bytes";
  for (; at.valid(); at.next()) continue;
  EXPECT_GT(cached(db), in_vain + 100'000) << "what is shown is cached again";
}

/// Pops every item of a queue, in a store that merges nothing. Returns the blocks read by each tenth of the pops.
std::vector<std::uint64_t> reads_of_tenths(std::uint64_t items) {
  MemoryFileSystem memory;
  test::CountingFileSystem files(memory);
  DB db = test::open_db(files, {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .compaction = "manual"});
  std::uint64_t tail = 0;
  for (; tail < items / 10; ++tail) EXPECT_TRUE(db.put(key(tail), "item").ok());
  std::vector<std::uint64_t> reads;
  for (std::uint64_t head = 0; head < items; ++head) {
    if (head % (items / 10) == 0) reads.push_back(files.reads());
    EXPECT_TRUE(db.put(key(tail++), "item").ok());
    const Iterator at = db.scan({.fills_cache = false});
    EXPECT_EQ(at.key(), key(head));
    EXPECT_TRUE(db.remove(at.key()).ok());
  }
  for (std::size_t i = 0; i + 1 < reads.size(); ++i) reads[i] = reads[i + 1] - reads[i];
  reads.back() = files.reads() - reads.back();
  return reads;
}

TEST(EmptyRangesScan, ThePopsOfAQueueReadNoMoreAtItsEndThanAtItsBeginning) {
  const std::vector<std::uint64_t> reads = reads_of_tenths(20'000);
  EXPECT_LE(reads.back(), reads[1] * 11 / 10) << testing::PrintToString(reads);
}

}  // namespace
}  // namespace tamis
