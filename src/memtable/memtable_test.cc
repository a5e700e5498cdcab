#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "support/iterator_check.h"

namespace tamis {
namespace {

const KeyHasher kHasher(7);

/// A memtable and, beside it, the same entries in a std::map.
class Pair {
 public:
  struct Position {
    std::string key;
    Sequence sequence;
    bool operator<(const Position& other) const {
      return EntryPosition{key, sequence} < EntryPosition{other.key, other.sequence};
    }
  };
  struct Version {
    EntryKind kind;
    std::string value;
  };
  using Oracle = std::map<Position, Version>;

  void put(const std::string& key, const std::string& value) { insert(key, EntryKind::kPut, value); }
  void remove(const std::string& key) { insert(key, EntryKind::kDelete, {}); }

  [[nodiscard]] bool answers_right(const std::string& key, Sequence snapshot) const {
    const std::optional<FoundEntry> found = memtable.find({key, kHasher(key), snapshot});
    const auto expected = oracle.lower_bound({key, snapshot});
    if (expected == oracle.end() || expected->first.key != key) return !found.has_value();
    return found && *found == FoundEntry{expected->second.kind, expected->first.sequence, expected->second.value};
  }
  [[nodiscard]] std::vector<Entry> entries() const {
    std::vector<Entry> all;
    for (const auto& [at, version] : oracle) all.push_back({at.key, version.value, at.sequence, version.kind});
    return all;
  }

  Memtable memtable;
  Oracle oracle;
  Sequence sequence{0};

 private:
  void insert(const std::string& key, EntryKind kind, const std::string& value) {
    sequence = sequence + 1;
    memtable.insert({key, value, sequence, kind}, kHasher(key));
    oracle.insert({{key, sequence}, {kind, value}});
  }
};

void expect_same_walks(const Pair& pair) {
  const auto iterator = pair.memtable.iterate();
  test::IteratorCheck(*iterator, pair.entries()).walk();
}

/// Few keys, so that there are versions; many share their first bytes or differ only by a zero byte.
std::string make_key(std::mt19937_64& random, std::uint64_t seed) {
  static const char* const kStarts[] = {"", "user:000", "https://example.org/a/path/that/is/long?"};
  std::string key = kStarts[seed % 4 == 3 ? random() % 3 : seed % 4];
  for (std::uint64_t left = random() % (2 + seed % 5); left > 0; --left)
    key.push_back("\x00\x01\x61\xff"[random() % 4]);
  return key;
}

void run_random_history(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Pair pair;
  const std::uint64_t entries = random() % 3000;
  const std::uint64_t asks_every = seed % 20 == 0 ? 1 : 1 + random() % 500;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string key = make_key(random, seed);
    if (random() % 4 == 0) {
      pair.remove(key);
    } else {
      pair.put(key, std::string(random() % 40, static_cast<char>(random())));
    }
    const std::string asked = make_key(random, seed);
    ASSERT_TRUE(pair.answers_right(asked, kMaxSequence));
    ASSERT_TRUE(pair.answers_right(asked, Sequence{random() % (i + 2)}));
    if (random() % asks_every != 0) continue;
    const auto iterator = pair.memtable.iterate();
    test::IteratorCheck check(*iterator, pair.entries(), random());
    ASSERT_NO_FATAL_FAILURE(
        check.moves(40, [&](std::mt19937_64& draws) { return make_key(draws, draws() % 4 == 0 ? 3 : seed); }));
  }
  ASSERT_NO_FATAL_FAILURE(expect_same_walks(pair));
  ASSERT_EQ(pair.memtable.entries(), entries);
  ASSERT_EQ(pair.memtable.empty(), entries == 0);
}

TEST(Memtable, AnswersAndWalksAsAMapWhateverTheHistory) {
  for (std::uint64_t seed = 1; seed <= 120 && !HasFatalFailure(); ++seed) {
    SCOPED_TRACE(seed);
    run_random_history(seed);
  }
}

TEST(Memtable, WithoutEntriesAnswersNothing) {
  const Memtable memtable;
  EXPECT_TRUE(memtable.empty());
  EXPECT_FALSE(memtable.find({"", kHasher(""), kMaxSequence}));
  memtable.prefetch(1);
  const auto iterator = memtable.iterate();
  test::IteratorCheck(*iterator, {}).moves(20, [](std::mt19937_64&) { return std::string("a"); });
}

TEST(Memtable, KeepsTheEmptyKeyAndTheLongest) {
  Pair pair;
  const std::string longest(kMaxKeyBytes, 'k');
  std::vector<std::string> keys = {"", longest, longest.substr(1), longest.substr(0, kMaxKeyBytes - 1) + "l"};
  for (int round = 0; round < 3; ++round) {
    for (const std::string& key : keys) {
      pair.put(key, std::to_string(round));
      ASSERT_TRUE(pair.answers_right(key, kMaxSequence));
      expect_same_walks(pair);
    }
  }
  keys.push_back(longest.substr(2));
  const auto iterator = pair.memtable.iterate();
  test::IteratorCheck(*iterator, pair.entries()).moves(100, [&](std::mt19937_64& random) {
    return keys[random() % keys.size()];
  });
}

/// The tail is large enough for the radix sort; keys that share less come later.
TEST(Memtable, OrdersManyKeysWhateverTheyShare) {
  for (const std::size_t shared : {0, 8, 16, 64}) {
    Pair pair;
    std::mt19937_64 random(shared);
    const std::string start(shared, 's');
    for (int i = 0; i < 12'000; ++i) {
      if (i == 5000 || i == 9000) expect_same_walks(pair);
      pair.put(start.substr(0, i < 8000 ? shared : shared / 2) + std::to_string(random() % 100'000), "v");
    }
    expect_same_walks(pair);
  }
}

TEST(Memtable, Rule12_AnIteratorIsNotDisturbedByLaterInserts) {
  Pair pair;
  for (int i = 0; i < 100; ++i) pair.put(std::to_string(i), "old");
  const auto iterator = pair.memtable.iterate();
  test::IteratorCheck check(*iterator, pair.entries());
  check.seek_to_first();
  for (int seen = 0; seen < 100; ++seen) {
    for (int i = 0; i < 50; ++i) pair.put(std::to_string(1000 * seen + i), "new");
    if (seen % 10 == 0) expect_same_walks(pair);
    ASSERT_TRUE(check.agrees());
    check.next();
  }
  EXPECT_TRUE(check.agrees());
}

TEST(Memtable, ValuesLargerThanAChunkAreKept) {
  Pair pair;
  for (int i = 0; i < 5; ++i) {
    pair.put("large", std::string(3'000'000, static_cast<char>('0' + i)));
    pair.put("small", "s");
  }
  expect_same_walks(pair);
  EXPECT_TRUE(pair.answers_right("large", Sequence{3}));
  EXPECT_LT(pair.memtable.memory_bytes(), 16'500'000U);
}

std::size_t entries_until_full(Memtable& memtable, std::size_t full_at) {
  std::size_t entries = 0;
  while (memtable.memory_bytes() < full_at) {
    const std::string key = "key " + std::to_string(++entries);
    memtable.insert({key, std::string(100, 'v'), Sequence{entries}, EntryKind::kPut}, kHasher(key));
  }
  return entries;
}

TEST(Memtable, OneThatKnowsItsSizeHoldsMoreAndFindsAll) {
  constexpr std::size_t kFullAt = 20'000'000;
  Memtable grows;
  Memtable knows(kFullAt);
  const std::size_t entries = entries_until_full(knows, kFullAt);
  EXPECT_GT(entries, entries_until_full(grows, kFullAt)) << "no arrays that were outgrown on the way";
  for (std::size_t i = 1; i <= entries; ++i) {
    const std::string key = "key " + std::to_string(i);
    ASSERT_TRUE(knows.find({key, kHasher(key), Sequence{entries}}).has_value()) << key;
  }
}

TEST(Memtable, OneThatComesAfterAnotherTakesItsMemory) {
  constexpr std::size_t kFullAt = 20'000'000;
  auto spare = std::make_shared<SpareMemory>(kFullAt);
  std::size_t first_entries = 0;
  {
    Memtable first(kFullAt, spare);
    first_entries = entries_until_full(first, kFullAt);
    EXPECT_EQ(spare->bytes(), 0U);
  }
  EXPECT_GT(spare->bytes(), kFullAt / 2);
  Memtable second(kFullAt, spare);
  for (std::size_t i = 1; i <= first_entries; ++i) {
    const std::string key = "other " + std::to_string(i);
    second.insert({key, key, Sequence{i}, EntryKind::kPut}, kHasher(key));
    ASSERT_LT(second.memory_bytes() + spare->bytes(), kFullAt + kFullAt / 8);
  }
  EXPECT_FALSE(second.find({"key 1", kHasher("key 1"), Sequence{first_entries}}).has_value());
  EXPECT_TRUE(second.find({"other 1", kHasher("other 1"), Sequence{first_entries}}).has_value());
}

TEST(Memtable, WhatWasReservedIsNotTakenAgain) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    std::mt19937_64 random(seed);
    Memtable memtable;
    Sequence sequence{1};
    for (int group = 0; group < 20; ++group) {
      std::vector<std::string> keys(random() % 2000);
      std::size_t bytes = 0;
      for (std::string& key : keys) {
        key = std::string(random() % (random() % 50 == 0 ? 60'000 : 30), 'k') + std::to_string(random());
        bytes += 2 * key.size();
      }
      ASSERT_TRUE(memtable.reserve(keys.size(), bytes).ok());
      const std::size_t before = memtable.memory_bytes();
      for (const std::string& key : keys) {
        memtable.insert({key, key, sequence, EntryKind::kPut}, kHasher(key));
        sequence = sequence + 1;
      }
      ASSERT_EQ(memtable.memory_bytes(), before) << "seed " << seed;
    }
  }
}

TEST(Memtable, AReservationThatCannotBeHadChangesNothing) {
  Pair pair;
  pair.put("a", "1");
  const std::size_t before = pair.memtable.memory_bytes();
  constexpr std::size_t kAll = ~std::size_t{0};
  for (const auto& [entries, bytes] : {std::pair{kAll, kAll}, {kAll, std::size_t{1}}, {std::size_t{1}, kAll}}) {
    EXPECT_EQ(pair.memtable.reserve(entries, bytes).code(), StatusCode::kOutOfSpace);
  }
  EXPECT_EQ(pair.memtable.reserve(2000, std::size_t{32} << 30).code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(pair.memtable.memory_bytes(), before);
  pair.put("b", "2");
  expect_same_walks(pair);
}

TEST(Memtable, ChunksAreCountedUntilTheLastIteratorOverThemGoes) {
  Pair pair;
  for (int i = 0; i < 1000; ++i) pair.put(std::to_string(i), "v");
  const std::size_t without_order = pair.memtable.memory_bytes();
  auto first = pair.memtable.iterate();
  const std::size_t with_order = pair.memtable.memory_bytes();
  EXPECT_GE(with_order, without_order + 16'000);
  EXPECT_LE(with_order, without_order + 16'000 + 500);
  ASSERT_TRUE(pair.memtable.reserve(1000, 10'000).ok());
  const std::size_t before_more = pair.memtable.memory_bytes();
  for (int i = 0; i < 1000; ++i) pair.put(std::to_string(i), "w");
  auto second = pair.memtable.iterate();
  EXPECT_GE(pair.memtable.memory_bytes(), before_more + 32'000) << "merged, but the first one is still in use";
  first.reset();
  EXPECT_LE(pair.memtable.memory_bytes(), before_more + 16'000 + 500);
}

}  // namespace
}  // namespace tamis
