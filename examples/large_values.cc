// Large values apart from their keys: compaction moves pointers, and the values stay where they are.
#include <tamis/db.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "photos");
  if (!db.ok()) return 1;
  tamis::Result<tamis::Keyspace> photos = db->keyspace("photos", {.value_bytes_apart = 16 << 10});
  bool ok = photos.ok() && photos->put("cat.jpeg", std::string(200'000, 'c')).ok();
  ok = ok && photos->put("cat.txt", "asleep").ok() && db->flush().ok();

  const tamis::Stats::Values values = db->stats().values;
  std::printf("%d value apart, %d bytes\n", int(values.values), int(values.live_bytes));
  std::printf("cat.jpeg: %zu bytes, cat.txt: %s\n", photos->get("cat.jpeg")->value().size(),
              photos->get("cat.txt")->value().c_str());
  return ok && db->close().ok() ? 0 : 1;
}
