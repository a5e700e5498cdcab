// For get_instructions_test.sh, which runs it under callgrind: a given number of reads served from memory.
//
//     get_instructions make DIR         a store of one run
//     get_instructions READ DIR TIMES   warms it, then reads: hit, absent, pinned, multi_get (per key), scan (per
//     step),
//                                       seek; memtable: hits there; put; batch and transaction: two gets and two puts
#include <fmt/core.h>
#include <tamis/db.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;
constexpr std::size_t kTogether = 32;

/// 16 bytes; even numbers are in the store.
std::string key_of(std::uint64_t number) { return fmt::format("{:016x}", number * 0x9e3779b97f4a7c15); }

void make(DB& db) {
  const std::string value(100, 'v');
  for (std::uint64_t i = 0; i < kKeys; ++i) TAMIS_CHECK(db.put(key_of(2 * i), value).ok());
  TAMIS_CHECK(db.compact().ok());
}

void multi_get(const DB& db, const std::vector<std::string>& keys, std::uint64_t times) {
  const std::vector<std::string_view> all(keys.begin(), keys.end());
  std::vector<std::optional<std::string>> values;
  for (std::uint64_t i = 0; i < times; i += kTogether) {
    const auto some = std::span(all).subspan(i % (all.size() / kTogether * kTogether), kTogether);
    TAMIS_CHECK(db.multi_get(some, &values).ok() && values.back());
  }
}

void scan(const DB& db, std::uint64_t times) {
  while (times > 0) {
    for (Iterator it = db.scan(); it.valid() && times > 0; it.next()) times -= it.value().empty() ? 0 : 1;
  }
}

void seek(const DB& db, const std::vector<std::string>& keys, std::uint64_t times) {
  Iterator it = db.scan();
  for (std::uint64_t i = 0; i < times; ++i) {
    it.seek(keys[i % keys.size()]);
    TAMIS_CHECK(it.valid());
  }
}

void get_from_memtable(DB& db, const std::vector<std::string>& keys, std::uint64_t times) {
  std::string value(100, 'v');
  for (const std::string& key : keys) TAMIS_CHECK(db.put(key, value).ok());
  for (std::uint64_t i = 0; i < times; ++i) TAMIS_CHECK(*db.get(keys[i % keys.size()], &value));
}

void put(DB& db, const std::vector<std::string>& keys, std::uint64_t times) {
  const std::string value(100, 'v');
  for (std::uint64_t i = 0; i < times; ++i) TAMIS_CHECK(db.put(keys[i % keys.size()], value).ok());
}

/// Two gets, then two puts in a batch, or all of it in a transaction.
void get_and_put(DB& db, const std::vector<std::string>& keys, std::uint64_t times, bool in_transaction) {
  std::string value;
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::string& a = keys[i % keys.size()];
    const std::string& b = keys[(i * 7 + 1) % keys.size()];
    if (in_transaction) {
      Transaction tx = db.begin();
      TAMIS_CHECK(*tx.get(a, &value) && *tx.get(b, &value));
      TAMIS_CHECK(tx.put(a, value).ok() && tx.put(b, value).ok() && tx.commit().ok());
    } else {
      Batch batch;
      TAMIS_CHECK(*db.get(a, &value) && *db.get(b, &value));
      batch.put(a, value);
      batch.put(b, value);
      TAMIS_CHECK(db.write(batch).ok());
    }
  }
}

void read(DB& db, std::string_view what, std::uint64_t times) {
  const bool is_there = what != "absent";
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; ++i) TAMIS_CHECK(*db.get(key_of(2 * i), &value));
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 1000; ++i) keys.push_back(key_of(2 * (i * 19) + (is_there ? 0 : 1)));
  if (what == "multi_get") return multi_get(db, keys, times);
  if (what == "scan") return scan(db, times);
  if (what == "seek") return seek(db, keys, times);
  if (what == "put") return put(db, keys, times);
  if (what == "memtable") return get_from_memtable(db, keys, times);
  if (what == "batch" || what == "transaction") return get_and_put(db, keys, times, what == "transaction");
  for (std::uint64_t i = 0; i < times; ++i) {
    const std::string& key = keys[i % keys.size()];
    if (what == "pinned") {
      TAMIS_CHECK(db.get_pinned(key)->has_value());
    } else if (what == "string") {
      TAMIS_CHECK(db.get(key)->has_value());
    } else {
      TAMIS_CHECK(*db.get(key, &value) == is_there);
    }
  }
}

}  // namespace
}  // namespace tamis::test

int main(int count, char** words) {
  if (count < 3) return EXIT_FAILURE;
  // Without threads: they would be counted too.
  tamis::Result<tamis::DB> db = tamis::DB::open(words[2], {}, {.runs_in_background = false});
  TAMIS_CHECK(db.ok());
  const std::string what = words[1];
  if (what == "make") {
    tamis::test::make(*db);
  } else if (count == 4) {
    tamis::test::read(*db, what, std::stoull(words[3]));
  }
  return db->close().ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
