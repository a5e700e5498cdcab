// Counters without reading them first: merge writes an operand, and the store adds it up.
#include <tamis/db.h>

#include <cstdio>

int main(int argc, char** argv) {
  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "visits", {.merge_operator = "add_i64"});
  if (!db.ok()) return 1;
  bool ok = true;
  for (int i = 0; i < 1000; ++i) ok = ok && db->merge(i % 3 == 0 ? "paris" : "rome", tamis::pack_i64(1)).ok();
  ok = ok && db->flush().ok();  // 1000 operands become two values.
  ok = ok && db->merge("paris", tamis::pack_i64(-34)).ok();
  for (const auto& [key, value] : db->scan()) {
    std::printf("%s: %lld\n", std::string(key).c_str(), static_cast<long long>(*tamis::unpack_i64(value)));
  }
  return ok && db->close().ok() ? 0 : 1;
}
