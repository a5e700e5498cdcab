// A first store: create it, put, get, close; reopen it and iterate.
#include <tamis/db.h>

#include <cstdio>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

int write_and_read(const std::string& path) {
  // README.md shows the lines between the marks.
  // [store]
  tamis::Result<tamis::DB> db = tamis::DB::open(path);  // A directory, created if it does not exist.
  if (!db.ok()) return fail(db.status());

  // Survives a crash of the process; with sync, of the machine.
  if (tamis::Status written = db->put("paris", "2102650", {.sync = true}); !written.ok()) return fail(written);

  tamis::Result<std::optional<std::string>> rome = db->get("rome");  // Absence is a value, not an error.
  if (!rome.ok()) return fail(rome.status());
  std::printf("rome: %s\n", rome->value_or("not there").c_str());
  // [/store]

  // A DB closes itself when it is destroyed; close it explicitly to see whether that succeeded.
  const tamis::Status closed = db->close();
  return closed.ok() ? 0 : fail(closed);
}

int open_again(const std::string& path) {
  // With create_if_missing off, a mistyped path is an error instead of a new, empty store.
  const tamis::Result<tamis::DB> db = tamis::DB::open(path, {.create_if_missing = false});
  if (!db.ok()) return fail(db.status());

  // The loop ends at the end of the range or at an error. Only the status tells which, so the iterator has a name.
  tamis::Iterator cities = db->scan();
  for (const auto& [key, value] : cities) {
    std::printf("%s: %s\n", std::string(key).c_str(), std::string(value).c_str());
  }
  return cities.status().ok() ? 0 : fail(cities.status());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "cities";
  if (const int failed = write_and_read(path); failed != 0) return failed;
  return open_again(path);
}
