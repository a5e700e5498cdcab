#include "engine/read_view.h"

#include <gtest/gtest.h>

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
  EXPECT_FALSE(filter.expired()) << "freed under a lookup";
  of_a_lookup.reset();
  EXPECT_TRUE(filter.expired()) << "kept for nobody";
}

}  // namespace
}  // namespace tamis
