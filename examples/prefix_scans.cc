// All visits of one user, newest last, from keys such as "user0042/2026-11-15": prefix scans, forwards and backwards,
// and a second filter in each table that knows which users it holds.
#include <tamis/db.h>

#include <cstdio>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

std::string user(int number) {
  char name[16];
  std::snprintf(name, sizeof name, "user%04d/", number);
  return name;
}

/// Three visits by every second user.
tamis::Status fill(tamis::DB& db) {
  tamis::Batch batch;
  for (int number = 0; number < 2000; number += 2) {
    for (const char* day : {"2026-11-13", "2026-11-14", "2026-11-15"}) batch.put(user(number) + day, "was here");
  }
  if (tamis::Status written = db.write(batch); !written.ok()) return written;
  return db.flush();  // To tables, which have filters. Happens by itself when the memtable is full.
}

/// How many blocks lookups and scans have searched, in memory or not.
std::uint64_t blocks_looked_at(const tamis::DB& db) {
  const tamis::Stats::Cache cache = db.stats().cache;
  return cache.hits + cache.misses;
}

}  // namespace

int main(int argc, char** argv) {
  // "until:/" makes everything up to and including the first slash the prefix. Every table records its rule: the store
  // may later be opened with another one, and a table's filter is asked only where its own rule applies.
  tamis::Options options;
  const tamis::Result<tamis::PrefixRule> rule = tamis::PrefixRule::parse("until:/");
  if (!rule.ok()) return fail(rule.status());
  options.prefix_rule = *rule;

  tamis::Result<tamis::DB> db = tamis::DB::open(argc > 1 ? argv[1] : "visits", options);
  if (!db.ok()) return fail(db.status());
  if (const tamis::Status filled = fill(*db); !filled.ok()) return fail(filled);

  tamis::Iterator visits = db->scan({.prefix = "user0042/"});
  for (const auto& [key, value] : visits) std::printf("%s\n", std::string(key).c_str());
  if (!visits.status().ok()) return fail(visits.status());

  // From the newest visit to the oldest, of those up to the 14th: in a reverse scan, seek goes to the last key at or
  // before its target.
  tamis::Iterator newest = db->scan({.prefix = "user0042/", .reverse = true});
  if (newest.valid()) std::printf("last: %s\n", std::string(newest.key()).c_str());
  newest.seek("user0042/2026-11-14");
  for (const auto& [key, value] : newest) std::printf("before: %s\n", std::string(key).c_str());
  if (!newest.status().ok()) return fail(newest.status());

  // Odd users lie between the even ones, so bounds do not rule them out; the prefix filter does, without a block read.
  const std::uint64_t before = blocks_looked_at(*db);
  int found = 0;
  for (int number = 1; number < 2000; number += 2) found += db->scan({.prefix = user(number)}).valid() ? 1 : 0;
  const std::uint64_t looked_at = blocks_looked_at(*db) - before;
  std::printf("1000 absent users: %d found, %s\n", found,
              looked_at < 50 ? "hardly a block looked at" : "too many blocks looked at");

  // A prefix that ends before the slash may match several users. No filter is asked, and nothing is missed.
  int count = 0;
  for ([[maybe_unused]] const auto& visit : db->scan({.prefix = "user004"})) ++count;
  std::printf("user0040 to user0049: %d visits\n", count);
  return found == 0 ? 0 : 1;
}
