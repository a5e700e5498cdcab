#include "engine/read_view.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "tamis/filter.h"

namespace tamis {
namespace {

/// A lookup holds the view it began with and may have found the filter through it, however many views came since.
TEST(ReadView, Rule10_KeepsWhatTablesUnloadUnderLaterViews) {
  CurrentView current;
  current.replace(std::make_shared<ReadView>());
  std::shared_ptr<const ReadView> of_a_lookup = current.take();
  current.replace(std::make_shared<ReadView>());
  std::vector<UnloadedMetadata> unloaded(1);
  unloaded[0].filter = std::make_shared<const Filter>(*FilterBuilder(FilterOptions()).finish());
  const std::weak_ptr<const Filter> filter = unloaded[0].filter;
  current.replace(std::make_shared<ReadView>(), std::move(unloaded));
  current.drop_replaced();
  EXPECT_FALSE(filter.expired()) << "freed under a lookup";
  of_a_lookup.reset();
  EXPECT_TRUE(filter.expired()) << "kept for nobody";
}

TEST(ReadView, Rule10_IsNotDroppedWhileSomebodyLooksAtIt) {
  CurrentView current;
  auto first = std::make_shared<const ReadView>();
  const std::weak_ptr<const ReadView> looked_at = first;
  current.replace(std::move(first));
  auto guard = std::make_unique<EpochGuard>();
  const ReadView* const seen = &current.peek();
  current.replace(std::make_shared<ReadView>());
  EXPECT_NE(&current.peek(), seen) << "whoever looks now sees the new one";
  std::atomic<bool> is_dropped = false;
  std::thread dropping([&] {
    current.drop_replaced();
    is_dropped = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();  // Time enough to do wrong.
  EXPECT_FALSE(is_dropped);
  EXPECT_FALSE(looked_at.expired());
  guard.reset();
  dropping.join();
  EXPECT_TRUE(looked_at.expired());
}

}  // namespace
}  // namespace tamis
