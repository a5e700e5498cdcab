// As filter_file_kill_test.cc, two hundred times.
#include "crash/killed_filter_file.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(FilterFileKillSlow, P1_NoAddedKeyIsLostWhenTheProcessIsKilled) {
  for (const char* kind : {"growing", "cuckoo"}) kill_often(kind, 100, base_seed(1000));
}

}  // namespace
}  // namespace tamis::test
