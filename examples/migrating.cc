// The calls of a LevelDB or RocksDB program in tamis. docs/MIGRATING.md shows the parts between the marks beside the
// calls they replace.
#include <tamis/db.h>

#include <cstdio>
#include <string>

namespace {

tamis::Status move_city(tamis::DB& db) {
  // [put]
  tamis::Status written = db.put("paris", "2102650", {.sync = true});
  if (written.ok()) written = db.remove("lutetia");
  // [/put]
  if (!written.ok()) return written;

  // [get]
  std::string value;
  tamis::Result<bool> found = db.get("rome", &value);  // Or get("rome"): a std::optional<std::string>.
  if (!found.ok()) return found.status();              // An error...
  if (!*found) std::printf("rome: not there\n");       // ...is not an absence.
  // [/get]

  // [exists]
  tamis::Result<bool> known = db.exists("paris");  // Exact; copies no value.
  // [/exists]
  if (!known.value_or(false)) return tamis::Status::corruption("paris is gone");

  // [batch]
  tamis::Batch batch;
  batch.put("lyon", "522250");
  batch.remove("lugdunum");
  written = db.write(batch);
  // [/batch]
  return written;
}

tamis::Status walk(tamis::DB& db) {
  // [snapshot]
  tamis::Snapshot then = db.snapshot();  // Released by its destructor.
  if (tamis::Status removed = db.remove("lyon"); !removed.ok()) return removed;
  // [/snapshot]

  // [iterate]
  tamis::Iterator cities = db.scan({.from = "l", .to = "q", .snapshot = &then});
  for (const auto& [city, people] : cities) {
    std::printf("%s: %s\n", std::string(city).c_str(), std::string(people).c_str());
  }
  if (!cities.status().ok()) return cities.status();  // The loop ended at an error.
  // [/iterate]

  // [backwards]
  tamis::Iterator last = db.scan({.reverse = true});
  last.seek("o");  // SeekForPrev: the last key at or before "o". A range-for goes on to smaller keys.
  // [/backwards]
  if (!last.valid() && !last.status().ok()) return last.status();
  return {};
}

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

int run(const std::string& path) {
  // [open]
  tamis::Options options;
  options.memory_bytes = std::uint64_t{512} << 20;  // Memtables, cached blocks, indexes and filters together.
  tamis::Result<tamis::DB> opened = tamis::DB::open(path, options);
  if (!opened.ok()) return fail(opened.status());
  tamis::DB& db = *opened;  // A value, not a pointer; it closes itself.
  // [/open]
  if (const tamis::Status moved = move_city(db); !moved.ok()) return fail(moved);
  if (const tamis::Status walked = walk(db); !walked.ok()) return fail(walked);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run(argc > 1 ? argv[1] : "cities"); }
