#include "engine/memory_shares.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(MemoryShares, P8_FilterBuildsOfAllThreadsTakeWhatTwoMay) {
  for (const std::uint64_t memory : {std::uint64_t{1} << 20, std::uint64_t{256} << 20, std::uint64_t{8} << 30}) {
    const std::uint64_t of_two = 2 * filter_build_memory({.memory_bytes = memory, .background_threads = 2});
    EXPECT_LE(of_two, 24U << 20);
    EXPECT_EQ(filter_build_memory({.memory_bytes = memory, .background_threads = 1}), of_two / 2);
    for (const std::uint32_t threads : {3U, 8U, 64U}) {
      EXPECT_LE(threads * filter_build_memory({.memory_bytes = memory, .background_threads = threads}), of_two);
    }
  }
}

}  // namespace
}  // namespace tamis
