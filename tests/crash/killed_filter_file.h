// Kills processes that change a filter in its file.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "base/random.h"
#include "process/child_process.h"
#include "tamis/mutable_filter_file.h"

namespace tamis::test {

/// Keys are added in ascending order, and every third is removed much later. Returns the acknowledged adds.
inline void kill_and_look(const std::string& path, std::uint64_t seed, std::uint64_t& next) {
  ChildProcess child([&](const ChildProcess::Teller& teller) {
    Result<MutableFilterFile> file = MutableFilterFile::open(path);
    if (!file.ok()) return 1;
    for (std::uint64_t key = next;; ++key) {
      if (!file->add(std::to_string(key)).ok()) return 2;
      teller.tell(key);
      if (key % 3 == 0 && key >= 300 && !*file->remove(std::to_string(key - 300))) return 3;
      if (key % 40 == 39) {
        if (!file->close().ok()) return 4;
        file = MutableFilterFile::open(path);
        if (!file.ok()) return 5;
      }
    }
  });
  SplitMix64 random(seed);
  const std::uint64_t adds = 1 + random.below(120);
  for (std::uint64_t i = 0; i < adds; ++i) {
    const std::optional<std::uint64_t> told = child.next();
    ASSERT_TRUE(told.has_value()) << "exit code " << child.wait();
    next = *told + 1;
  }
  if (random.below(2) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  child.kill();
  while (const std::optional<std::uint64_t> told = child.next()) next = *told + 1;
  EXPECT_EQ(child.wait(), -9);
  const Result<Filter> found = Filter::open(path);
  ASSERT_TRUE(found.ok()) << found.status().to_text();
  // A key whose removal was under way may be gone.
  const std::uint64_t oldest = next < 303 ? 0 : next - 303 + 6;
  for (std::uint64_t key = 0; key < next; ++key) {
    const bool is_removed = key % 3 == 0 && key <= oldest;
    ASSERT_TRUE(is_removed || found->may_contain(std::to_string(key))) << key << " of " << next;
  }
}

inline void kill_often(const std::string& kind, int kills, std::uint64_t seed) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("seen.tamis");
  ASSERT_TRUE(MutableFilterFile::create(path, {.kind = kind, .target_rate = 0.001, .capacity = 20'000})->close().ok());
  std::uint64_t next = 0;
  for (int i = 0; i < kills && !testing::Test::HasFatalFailure(); ++i) {
    kill_and_look(path, seed + static_cast<std::uint64_t>(i), next);
  }
  EXPECT_GT(next, static_cast<std::uint64_t>(kills));
}

}  // namespace tamis::test
