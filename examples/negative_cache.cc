// A negative cache in front of SQLite: a filter of all names answers for most absent ones, so SQLite is asked only when
// the answer may be yes. A cuckoo filter, because rows are also removed.
#include <sqlite3.h>
#include <tamis/filter.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace {

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

std::string name_of(int number) { return "name" + std::to_string(number); }

/// A table of names. The rules that keep filter and table consistent:
///   - a name is in the filter before its row is visible, and leaves it after the row is gone;
///   - so a "no" of the filter is always right, and a "maybe" costs the query it would have cost anyway;
///   - the table is the truth: if the filter is missing or old, rebuild it from the table.
class Names {
 public:
  Names(const char* path, std::uint64_t capacity) : filter_(make_filter(capacity)) {
    sqlite3* opened = nullptr;
    const int result = sqlite3_open(path, &opened);
    database_.reset(opened);
    if (result != SQLITE_OK) fail(sqlite3_errmsg(opened));
    run("CREATE TABLE IF NOT EXISTS names (name TEXT PRIMARY KEY, number INTEGER)");
    rebuild_filter();
  }

  void insert(const std::string& name, int number) {
    if (const tamis::Status added = filter_.add(name); !added.ok()) fail(added.to_text());  // Full: make a larger one.
    const Statement insert = prepare("INSERT INTO names VALUES (?, ?)");
    sqlite3_bind_text(insert.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    sqlite3_bind_int(insert.get(), 2, number);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) fail(sqlite3_errmsg(database_.get()));
  }

  /// Only an added name may be removed, or another name would lose its bits: the table knows.
  void remove(const std::string& name) {
    const Statement remove = prepare("DELETE FROM names WHERE name = ?");
    sqlite3_bind_text(remove.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    if (sqlite3_step(remove.get()) != SQLITE_DONE) fail(sqlite3_errmsg(database_.get()));
    if (sqlite3_changes(database_.get()) == 0) return;
    if (const tamis::Result<bool> removed = filter_.remove(name); !removed.ok()) fail(removed.status().to_text());
  }

  bool contains(const std::string& name) {
    if (!filter_.may_contain(name)) return false;  // Certainly not: no query.
    ++queries_;
    const Statement select = prepare("SELECT 1 FROM names WHERE name = ?");
    sqlite3_bind_text(select.get(), 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    return sqlite3_step(select.get()) == SQLITE_ROW;
  }

  void run(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      fail(sqlite3_errmsg(database_.get()));
    }
  }

  /// Since the last call.
  int queries() { return std::exchange(queries_, 0); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    void operator()(sqlite3* database) const { sqlite3_close(database); }
  };
  using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

  static tamis::MutableFilter make_filter(std::uint64_t capacity) {
    tamis::Result<tamis::MutableFilter> filter =
        tamis::MutableFilter::create({.kind = "cuckoo", .target_rate = 0.01, .capacity = capacity});
    if (!filter.ok()) fail(filter.status().to_text());
    return std::move(filter).value();
  }

  [[nodiscard]] Statement prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql, -1, &statement, nullptr) != SQLITE_OK) {
      fail(sqlite3_errmsg(database_.get()));
    }
    return Statement(statement);
  }

  void rebuild_filter() {
    filter_.clear();
    const Statement all = prepare("SELECT name FROM names");
    while (sqlite3_step(all.get()) == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(all.get(), 0));
      if (const tamis::Status added = filter_.add(text); !added.ok()) fail(added.to_text());
    }
  }

  tamis::MutableFilter filter_;
  std::unique_ptr<sqlite3, Finalize> database_;
  int queries_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Names names(argc > 1 ? argv[1] : ":memory:", 20'000);
  names.run("BEGIN");
  for (int i = 0; i < 10'000; ++i) names.insert(name_of(i), i);
  names.run("COMMIT");

  int found = 0;
  for (int i = 0; i < 10'000; ++i) found += names.contains(name_of(i)) ? 1 : 0;
  std::printf("10000 names that are there: %d found, %d queries\n", found, names.queries());

  found = 0;
  for (int i = 10'000; i < 110'000; ++i) found += names.contains(name_of(i)) ? 1 : 0;
  const int queries = names.queries();
  std::printf("100000 names that are not: %d found, %s of them asked of SQLite\n", found,
              queries < 1'000 ? "fewer than 1 %" : "too many");

  names.remove(name_of(7));
  names.remove("never there");
  std::printf("%s after its row is gone: %s\n", name_of(7).c_str(), names.contains(name_of(7)) ? "there" : "not there");
  return 0;
}
