#include "tree/run_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <set>

#include "entry/capped_iterator.h"
#include "entry/vector_iterator.h"
#include "support/entry_sets.h"
#include "support/iterator_check.h"

namespace tamis {
namespace {

struct Bounds {
  std::string_view smallest;
  std::string_view largest;
};

/// Parts of any kind.
struct AnyParts {
  static constexpr bool kAreForReaders = false;

  std::vector<Bounds> bounds;
  std::function<std::unique_ptr<EntryIterator>(std::size_t part)> make;
  std::unique_ptr<EntryIterator> opened = {};

  [[nodiscard]] std::size_t size() const { return bounds.size(); }
  [[nodiscard]] std::string_view smallest(std::size_t part) const { return bounds[part].smallest; }
  [[nodiscard]] std::string_view largest(std::size_t part) const { return bounds[part].largest; }
  void open(std::size_t part) { opened = make(part); }
  [[nodiscard]] EntryIterator& inside() { return *opened; }
};
using AnyRun = RunIterator<AnyParts>;

struct ReaderParts : AnyParts {
  static constexpr bool kAreForReaders = true;

  std::string_view first_floor = {};

  [[nodiscard]] std::string_view floor(std::size_t part) const { return part == 0 ? first_floor : std::string_view(); }
};
using ReaderRun = RunIterator<ReaderParts>;

/// One sorted run cut into parts between keys, and which of them were opened.
struct CutRun {
  CutRun(std::uint64_t seed, const test::EntrySets::Shape& shape) : sets(seed, shape), all(sets.merged()) {
    std::mt19937_64 random(seed);
    for (const Entry& entry : all) {
      const bool is_new_key = parts.empty() || parts.back().back().key != entry.key;
      if (parts.empty() || (is_new_key && random() % 3 == 0)) parts.emplace_back();
      parts.back().push_back(entry);
    }
  }

  AnyParts any_parts() {
    std::vector<Bounds> bounds;
    for (const std::vector<Entry>& part : parts) bounds.push_back({part.front().key, part.back().key});
    return AnyParts{.bounds = bounds, .make = [this](std::size_t part) {
                      opened.insert(part);
                      return std::make_unique<VectorIterator>(parts[part]);
                    }};
  }
  AnyRun iterator() { return AnyRun(any_parts()); }
  std::unique_ptr<ReaderRun> reader(std::string_view floor) {
    return std::make_unique<ReaderRun>(ReaderParts{any_parts(), floor});
  }

  test::EntrySets sets;
  std::vector<Entry> all;
  std::vector<std::vector<Entry>> parts;
  std::set<std::size_t> opened;
};

TEST(RunIterator, WalksAsIfTheRunWereOneTable) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CutRun run(seed, {.runs = 1, .entries = 60, .keys = 15, .unique = true});
    AnyRun it = run.iterator();
    SCOPED_TRACE(seed);
    test::IteratorCheck(it, run.all, seed).moves(200, [&](std::mt19937_64& random) {
      return run.sets.some_key(random);
    });
    if (HasFatalFailure()) return;
  }
}

TEST(RunIterator, ReadersWalkAsIfTheRunWereOneTableFromTheFloorOn) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CutRun run(seed, {.runs = 1, .entries = 60, .keys = 15, .unique = true});
    SCOPED_TRACE(seed);
    if (run.parts.empty()) continue;
    const std::vector<Entry>& first = run.parts.front();
    const std::string floor(seed % 3 == 0 ? std::string_view() : first[seed % first.size()].key);
    std::erase_if(run.all, [&](const Entry& entry) { return entry.key < floor; });
    CappedIterator it(run.reader(floor), Sequence{std::uint64_t{1} << 40});
    test::IteratorCheck(it, run.all, seed).moves(200, [&](std::mt19937_64& random) {
      return run.sets.some_key(random);
    });
    if (HasFatalFailure()) return;
  }
}

TEST(RunIterator, ReadersOpenAPartWithTheMoveThatReadsItsFirstEntry) {
  CutRun run(7, {.runs = 1, .entries = 200, .keys = 60, .unique = true});
  ASSERT_GT(run.parts.size(), 5U);
  const std::unique_ptr<ReaderRun> it = run.reader({});
  it->seek_to_first();
  EXPECT_EQ(it->entry().position(), (EntryPosition{run.parts[0].front().key, kMaxSequence}));
  EXPECT_TRUE(run.opened.empty());
  it->next();
  EXPECT_EQ(it->entry(), run.parts[0].front());
  for (std::size_t i = 0; i < run.parts[0].size(); ++i) it->next();
  EXPECT_EQ(it->entry().position(), (EntryPosition{run.parts[1].front().key, kMaxSequence}));
  EXPECT_EQ(run.opened, (std::set<std::size_t>{0}));
  const std::string between = std::string(run.parts[2].back().key) + '\0';
  it->seek({between, kMaxSequence});
  EXPECT_EQ(it->entry().position(), (EntryPosition{run.parts[3].front().key, kMaxSequence}));
  EXPECT_EQ(run.opened, (std::set<std::size_t>{0}));
}

TEST(RunIterator, OpensOnlyWhatItComesTo) {
  CutRun run(7, {.runs = 1, .entries = 200, .keys = 60, .unique = true});
  ASSERT_GT(run.parts.size(), 5U);
  AnyRun it = run.iterator();
  EXPECT_TRUE(run.opened.empty());
  it.seek({run.parts[3].front().key, kMaxSequence});
  EXPECT_EQ(run.opened, (std::set<std::size_t>{3}));
  for (std::size_t i = 0; i < run.parts[3].size(); ++i) it.next();
  EXPECT_EQ(run.opened, (std::set<std::size_t>{3, 4}));
  it.seek_to_last();
  EXPECT_EQ(run.opened, (std::set<std::size_t>{3, 4, run.parts.size() - 1}));
}

TEST(RunIterator, OfNoPartsHoldsNothing) {
  AnyRun it(AnyParts{.bounds = {}, .make = [](std::size_t) { return std::unique_ptr<EntryIterator>(); }});
  it.prepare_seek({"a"});
  it.seek_to_first();
  EXPECT_FALSE(it.valid());
  it.seek_to_last();
  EXPECT_FALSE(it.valid());
  it.seek({"a"});
  EXPECT_FALSE(it.valid());
  it.seek_backwards({"a"});
  EXPECT_FALSE(it.valid());
  EXPECT_TRUE(it.status().ok());
}

TEST(RunIterator, AnErrorIsNotAnEnd) {
  const std::vector<Entry> first = {{"a", "1", Sequence{1}, EntryKind::kPut}};
  int moves_left = 0;  // The second part cannot be read.
  const std::vector<Entry> third = {{"e", "3", Sequence{3}, EntryKind::kPut}};
  AnyRun it(AnyParts{.bounds = {{"a", "b"}, {"c", "d"}, {"e", "f"}},
                     .make = [&](std::size_t part) -> std::unique_ptr<EntryIterator> {
                       auto entries = std::make_unique<VectorIterator>(part == 0 ? first : third);
                       if (part != 1) return entries;
                       return std::make_unique<test::FailingIterator>(std::move(entries), &moves_left, false);
                     }});
  it.seek_to_first();
  ASSERT_TRUE(it.valid());
  it.next();
  EXPECT_FALSE(it.valid());
  EXPECT_EQ(it.status().message(), "the disk is gone");
  it.seek_to_last();
  ASSERT_TRUE(it.valid());
  EXPECT_EQ(it.entry().key, "e");
  it.previous();
  EXPECT_EQ(it.status().code(), StatusCode::kIoError);
  it.seek({"a"});
  EXPECT_TRUE(it.valid()) << "a seek forgets the error";
}

}  // namespace
}  // namespace tamis
