// A third-party program: opens a store, puts, gets, and asks a filter. Usage: consumer FOLDER
#include <tamis/db.h>
#include <tamis/filter.h>

#include <cstdio>
#include <optional>
#include <string>

namespace {

int fail(const tamis::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_text().c_str());
  return 1;
}

int use_store(const std::string& folder) {
  tamis::Result<tamis::DB> db = tamis::DB::open(folder);
  if (!db.ok()) return fail(db.status());
  if (tamis::Status put = db->put("paris", "2102650"); !put.ok()) return fail(put);
  if (tamis::Status flushed = db->flush(); !flushed.ok()) return fail(flushed);
  const tamis::Result<std::optional<std::string>> paris = db->get("paris");
  if (!paris.ok()) return fail(paris.status());
  std::printf("paris: %s\n", paris->value_or("not there").c_str());
  if (tamis::Status closed = db->close(); !closed.ok()) return fail(closed);
  return 0;
}

int use_filter() {
  tamis::FilterBuilder builder({.kind = "ribbon", .target_rate = 0.001});
  for (int i = 0; i < 1000; ++i) builder.add(std::to_string(i));
  const tamis::Result<tamis::Filter> filter = builder.finish();
  if (!filter.ok()) return fail(filter.status());
  std::printf("7: %s, x: %s\n", filter->may_contain("7") ? "maybe" : "no", filter->may_contain("x") ? "maybe" : "no");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const int store = use_store(argv[1]);
  return store != 0 ? store : use_filter();
}
