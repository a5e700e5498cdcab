#include "engine/read_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace tamis {
namespace {

/// A get that waits for the disk keeps the view it began with, and no later one.
TEST(ReadView, P8_KeepsNothingThatComesAfterIt) {
  CurrentView current;
  const auto replace = [&] {
    auto view = std::make_shared<ReadView>();
    view->active = std::make_shared<Memtable>();
    std::weak_ptr<const Memtable> memtable = view->active;
    current.replace(std::move(view));
    return memtable;
  };
  const std::weak_ptr<const Memtable> first = replace();
  std::shared_ptr<const ReadView> of_a_lookup = current.take();
  const std::weak_ptr<const Memtable> second = replace();
  const std::weak_ptr<const Memtable> third = replace();
  current.drop_replaced();
  EXPECT_FALSE(first.expired()) << "freed under a lookup";
  EXPECT_TRUE(second.expired()) << "kept for nobody";
  EXPECT_FALSE(third.expired());
  of_a_lookup.reset();
  EXPECT_TRUE(first.expired());
}

/// Replaces the view between the reads of view and sequence, as a flush or a compaction would.
TEST(ReadView, Rule9_TheSequenceIsLoadedAfterTheView) {
  CurrentView current;
  current.replace(std::make_shared<ReadView>());
  const auto load_sequence = [&current] {
    current.replace(std::make_shared<ReadView>());
    return Sequence{7};
  };
  const std::shared_ptr<const ReadView> first = current.take();
  const auto taken = current.take_at(load_sequence);
  EXPECT_EQ(taken.view, first) << "the view is younger than the sequence";
  EXPECT_EQ(taken.sequence, Sequence{7});
  const std::shared_ptr<const ReadView> second = current.take();
  EXPECT_NE(second, first);
  const EpochGuard guard;
  const auto peeked = current.peek_at(load_sequence);
  EXPECT_EQ(&peeked.view, second.get()) << "the view is younger than the sequence";
  EXPECT_EQ(peeked.sequence, Sequence{7});
}

/// A memtable is sealed between the two reads, and the next one gets an entry. A scan of the first view would find the
/// entry's key empty at a sequence that has it.
TEST(ReadView, Rule9_AWholeViewHasAllEntriesUpToItsSequence) {
  CurrentView current;
  current.replace(std::make_shared<ReadView>());
  Sequence published{1};
  int loads = 0;
  const auto load_sequence = [&] {
    if (loads++ == 0) {
      current.replace(std::make_shared<ReadView>());
      published = Sequence{2};
    }
    return published;
  };
  const EpochGuard guard;
  const auto whole = current.peek_whole_at(load_sequence);
  const auto newest = current.peek_at([&] { return published; });
  EXPECT_EQ(&whole.view, &newest.view) << "the view lacks what was published after it";
  EXPECT_EQ(whole.sequence, Sequence{2});
  EXPECT_EQ(loads, 2);
}

TEST(ReadView, Rule10_IsNotDroppedWhileSomebodyLooksAtIt) {
  CurrentView current;
  auto first = std::make_shared<const ReadView>();
  const std::weak_ptr<const ReadView> looked_at = first;
  current.replace(std::move(first));
  auto guard = std::make_unique<EpochGuard>();
  const auto any_sequence = [] { return Sequence{0}; };
  const ReadView* const seen = &current.peek_at(any_sequence).view;
  current.replace(std::make_shared<ReadView>());
  EXPECT_NE(&current.peek_at(any_sequence).view, seen) << "whoever looks now sees the new one";
  std::atomic<bool> is_dropped = false;
  std::thread dropping([&] {
    current.drop_replaced();
    is_dropped = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();  // Time for a premature drop.
  EXPECT_FALSE(is_dropped);
  EXPECT_FALSE(looked_at.expired());
  guard.reset();
  dropping.join();
  EXPECT_TRUE(looked_at.expired());
}

}  // namespace
}  // namespace tamis
