// Makes and dumps RocksDB stores with RocksDB itself.
//
//     rocksdb_store make FOLDER ENTRIES     two column families, deletes, range deletes, and writes that only a log has
//     rocksdb_store dump FOLDER FAMILY      like 'tamis dump --hex --keyspace FAMILY'
#include <rocksdb/db.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/print_entries.h"

namespace {

using tamis::test::need;

/// A store and the handles of its column families.
struct Store {
  std::unique_ptr<rocksdb::DB> db;
  std::vector<rocksdb::ColumnFamilyHandle*> families;

  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store() {
    for (rocksdb::ColumnFamilyHandle* family : families) db->DestroyColumnFamilyHandle(family);
  }
};

void make(const std::string& folder, std::uint64_t entries) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = std::size_t{256} << 10U;
  rocksdb::DB* db = nullptr;
  need(rocksdb::DB::Open(options, folder, &db));
  Store store;
  store.db.reset(db);
  store.families.resize(1);
  need(db->CreateColumnFamily(options, "second", store.families.data()));
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string key = "key" + std::to_string(i * 7919 % entries);
    need(db->Put({}, key, std::string(i % 200, 'v')));
    if (i % 3 == 0) need(db->Put({}, store.families[0], key, "second"));
    if (i % 5 == 0) need(db->Delete({}, "key" + std::to_string(i)));
  }
  need(db->DeleteRange({}, db->DefaultColumnFamily(), "key3", "key4"));
  need(db->Put({}, "key35", "after the range"));
}

void dump(const std::string& folder, const std::string& family) {
  std::vector<rocksdb::ColumnFamilyDescriptor> all = {{"default", {}}, {"second", {}}};
  Store store;
  rocksdb::DB* db = nullptr;
  need(rocksdb::DB::Open({}, folder, all, &store.families, &db));
  store.db.reset(db);
  const std::unique_ptr<rocksdb::Iterator> entry(db->NewIterator({}, store.families[family == "second" ? 1 : 0]));
  tamis::test::print_entries(*entry);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 3 ? argv[1] : "";
  if (verb == "make") {
    make(argv[2], std::strtoull(argv[3], nullptr, 10));
  } else if (verb == "dump") {
    dump(argv[2], argv[3]);
  } else {
    std::fputs("rocksdb_store make FOLDER ENTRIES | dump FOLDER FAMILY\n", stderr);
    return 2;
  }
  return 0;
}
