// P1 for a filter in a file: whenever the process that changes it is killed, no key is lost whose add has returned.
#include <gtest/gtest.h>

#include <filesystem>

#include "crash/killed_filter_file.h"
#include "support/seed.h"
#include "tamis/mutable_filter_file.h"

namespace tamis::test {
namespace {

TEST(FilterFileKill, P1_NoAddedKeyIsLostWhenTheProcessIsKilled) {
  for (const char* kind : {"growing", "cuckoo"}) kill_often(kind, 8, base_seed(0));
}

TEST(FilterFileKill, OneProcessAtATime) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("seen.tamis");
  MutableFilterFile file = MutableFilterFile::create(path, {.kind = "bloom", .capacity = 100}).value();
  EXPECT_EQ(MutableFilterFile::open(path).status().code(), StatusCode::kBusy);
  EXPECT_EQ(MutableFilterFile::create(path, {.kind = "bloom", .capacity = 100}).status().code(),
            StatusCode::kInvalidArgument);
  ASSERT_TRUE(file.add("key").ok());
  EXPECT_TRUE(Filter::open(path)->may_contain("key")) << "readers need no lock";
  ASSERT_TRUE(file.close().ok());
  EXPECT_EQ(file.add("other").code(), StatusCode::kClosed);
  EXPECT_TRUE(file.filter().may_contain("other"));
  MutableFilterFile again = MutableFilterFile::open(path).value();
  EXPECT_EQ(again.filter().info().keys, 1U);
  EXPECT_EQ(again.remove("key").status().code(), StatusCode::kNotSupported);
}

/// The log is folded into the filter when it is long, and small changes of a large filter do not write all of it.
TEST(FilterFileKill, TheFileStaysShort) {
  const ScratchFolder scratch;
  const std::string path = scratch.path("seen.tamis");
  MutableFilterFile file = MutableFilterFile::create(path, {.kind = "growing"}).value();
  for (int i = 0; i < 2'000; ++i) ASSERT_TRUE(file.add(std::to_string(i)).ok());
  ASSERT_TRUE(file.close().ok());
  EXPECT_EQ(std::filesystem::file_size(path), Filter::open(path)->bytes().size()) << "no log";
  file = MutableFilterFile::open(path).value();
  ASSERT_TRUE(file.add("one more").ok());
  ASSERT_TRUE(file.close().ok());
  EXPECT_EQ(std::filesystem::file_size(path), Filter::open(path)->bytes().size() + 32);
  EXPECT_TRUE(Filter::open(path)->may_contain("one more"));
  EXPECT_TRUE(MutableFilter::open(path)->may_contain("one more"));
}

}  // namespace
}  // namespace tamis::test
