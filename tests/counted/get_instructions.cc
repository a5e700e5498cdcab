// For get_instructions_test.sh, which runs it under callgrind: a given number of gets served from memory.
//
//     get_instructions make DIR              a store of one run
//     get_instructions hit|absent DIR GETS   warms it, then gets that many present or absent keys
#include <fmt/core.h>
#include <tamis/db.h>

#include <cstdlib>
#include <string>

#include "base/check.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;

/// 16 bytes; even numbers are in the store.
std::string key_of(std::uint64_t number) { return fmt::format("{:016x}", number * 0x9e3779b97f4a7c15); }

void make(DB& db) {
  const std::string value(100, 'v');
  for (std::uint64_t i = 0; i < kKeys; ++i) TAMIS_CHECK(db.put(key_of(2 * i), value).ok());
  TAMIS_CHECK(db.compact().ok());
}

void get(const DB& db, bool is_there, std::uint64_t gets) {
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; ++i) TAMIS_CHECK(*db.get(key_of(2 * i), &value));
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 1000; ++i) keys.push_back(key_of(2 * (i * 19) + (is_there ? 0 : 1)));
  for (std::uint64_t i = 0; i < gets; ++i) TAMIS_CHECK(*db.get(keys[i % keys.size()], &value) == is_there);
}

}  // namespace
}  // namespace tamis::test

int main(int count, char** words) {
  if (count < 3) return EXIT_FAILURE;
  tamis::Result<tamis::DB> db = tamis::DB::open(words[2]);
  TAMIS_CHECK(db.ok());
  const std::string what = words[1];
  if (what == "make") {
    tamis::test::make(*db);
  } else if (count == 4) {
    tamis::test::get(*db, what == "hit", std::stoull(words[3]));
  }
  return db->close().ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
