// The tests of the C API, tests/capi, one by one. A check that fails ends the program.
#include <gtest/gtest.h>

#include "capi/check.h"
#include "support/scratch_folder.h"
#include "support/source_file.h"

namespace tamis::test {
namespace {

void run(void (*test)()) {
  const ScratchFolder scratch;
  const std::string place = scratch.path("");
  const std::string tree = source_file("");
  folder = place.c_str();
  sources = tree.c_str();
  test();
  EXPECT_EQ(error, nullptr);
}

#define C_TEST(name) \
  TEST(CApi, name) { run(test_##name); }
EACH_TEST(C_TEST)

}  // namespace
}  // namespace tamis::test
