#include "memtable/version_chain.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace tamis {
namespace {

using Place = Arena::Place;

/// Versions of one key with the sequences 2, 4, 6, …
class Chain {
 public:
  void add(std::uint64_t versions) {
    for (std::uint64_t i = 0; i < versions; ++i) {
      const std::string value = std::to_string(++count_);
      ASSERT_TRUE(arena_.reserve(kMaxVersionBytes + 3 + value.size() + Arena::kUnitBytes));
      newest_ = add_version(arena_, {"key", value, Sequence{2 * count_}, EntryKind::kPut}, newest_, newest_);
    }
  }
  /// As in Memtable::find.
  const EntryRecord* find(std::uint64_t sequence, std::uint64_t* steps = nullptr) {
    if (newest_ == Place::kNone) return nullptr;
    const EntryRecord& newest = EntryRecord::at(arena_, newest_);
    return number_of(newest.sequence) <= sequence ? &newest : find_older(arena_, newest, Sequence{sequence}, steps);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::size_t used_bytes() const { return arena_.used_bytes(); }

 private:
  MemoryCount memory_;
  Arena arena_{memory_};
  Place newest_ = Place::kNone;
  std::uint64_t count_ = 0;
};

TEST(VersionChain, FindsForEverySequenceTheNewestVersionAtOrBelowIt) {
  Chain chain;
  for (int round = 0; round < 300; ++round) {
    for (std::uint64_t sequence = 0; sequence <= 2 * chain.count() + 2; ++sequence) {
      const EntryRecord* const found = chain.find(sequence);
      const std::uint64_t expected = std::min(sequence / 2, chain.count());
      ASSERT_EQ(found != nullptr, expected > 0) << sequence << " of " << chain.count();
      if (found == nullptr) continue;
      ASSERT_EQ(number_of(found->sequence), 2 * expected) << "of " << chain.count();
      ASSERT_EQ(found->key(), "key");
      ASSERT_EQ(found->value(), std::to_string(expected));
    }
    chain.add(1);
  }
}

/// A get at an old snapshot once visited every later overwrite, inside an epoch.
TEST(VersionChain, AnOldVersionIsFoundInAFewStepsHoweverManyAreNewer) {
  Chain chain;
  chain.add(300'000);
  SplitMix64 random(1);
  std::uint64_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t version = i < 100 ? i + 1 : 1 + random.below(chain.count());
    std::uint64_t steps = 0;
    const EntryRecord* const found = chain.find(2 * version, &steps);
    ASSERT_EQ(number_of(found->sequence), 2 * version);
    most = std::max(most, steps);
  }
  EXPECT_LE(most, 64U);
}

TEST(VersionChain, AKeyWithFewVersionsTakesNoMoreMemory) {
  Chain chain;
  chain.add(kVersionsPerMilestone - 1);
  const std::size_t few = chain.used_bytes();
  EXPECT_EQ(few, (kVersionsPerMilestone - 1) * 32);  // 24, the key, one digit, rounded up.
  chain.add(1);
  EXPECT_EQ(chain.used_bytes() - few, 32 + sizeof(Milestone));
}

}  // namespace
}  // namespace tamis
