// Reads a store while it is written. The writer would usually be another process; the follower takes no lock.
#include <tamis/db.h>

#include <cstdio>

int main(int argc, char** argv) {
  const char* const path = argc > 1 ? argv[1] : "orders";
  tamis::Result<tamis::DB> writer = tamis::DB::open(path);
  if (!writer.ok() || !writer->put("order/1", "tea").ok()) return 1;

  tamis::Result<tamis::DB> follower = tamis::DB::open(path, {.read_only = true, .follows = true});
  if (!follower.ok()) return 1;
  const tamis::Snapshot before = follower->snapshot();  // Keeps what it sees now.
  if (!writer->put("order/2", "coffee").ok()) return 1;
  std::printf("before: %s\n", follower->get("order/2")->value_or("not there yet").c_str());

  const tamis::Result<std::uint64_t> sequence = follower->catch_up();  // kStale: try again.
  if (!sequence.ok()) return 1;
  std::printf("after %d writes: %s\n", static_cast<int>(*sequence), follower->get("order/2")->value_or("lost").c_str());
  std::printf("snapshot: %s\n", follower->get("order/2", {.snapshot = &before})->value_or("not there").c_str());
  return 0;
}
