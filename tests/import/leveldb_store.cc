// Makes and dumps LevelDB stores with LevelDB itself: what imports are compared with.
//
//     leveldb_store make FOLDER ENTRIES     keys of 16 bytes in random order, values of 100 bytes
//     leveldb_store small FOLDER            every kind of file and entry, in a few KiB
//     (tests/golden/foreign/leveldb/folder) leveldb_store dump FOLDER             like 'tamis dump --hex'
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "import/print_entries.h"

namespace {

using tamis::test::need;

std::unique_ptr<leveldb::DB> open(const std::string& folder, const leveldb::Options& options) {
  leveldb::DB* db = nullptr;
  need(leveldb::DB::Open(options, folder, &db));
  return std::unique_ptr<leveldb::DB>(db);
}

/// SplitMix64's output function: a permutation.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::string hex16(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

/// Half of it can be compressed away, as in LevelDB's own benchmark.
std::string value_of(std::uint64_t number) {
  std::string value;
  for (std::uint64_t i = 0; value.size() < 50; ++i) {
    const std::uint64_t bits = mixed(number + (i << 40U));
    value.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  }
  value.resize(50);
  return value + value;
}

void make(const std::string& folder, std::uint64_t entries) {
  leveldb::Options options;
  options.create_if_missing = true;
  const std::unique_ptr<leveldb::DB> db = open(folder, options);
  leveldb::WriteBatch batch;
  for (std::uint64_t i = 0; i < entries; ++i) {
    batch.Put(hex16(mixed(i)), value_of(i));
    if (i % 1000 == 999 || i + 1 == entries) {
      need(db->Write({}, &batch));
      batch.Clear();
    }
  }
}

/// A table in a deep level, two in level 0, and a log; keys that are put, overwritten and deleted in each of them.
void small(const std::string& folder) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.block_size = 512;
  {
    const std::unique_ptr<leveldb::DB> db = open(folder, options);
    for (std::uint64_t i = 0; i < 40; ++i) need(db->Put({}, "key" + hex16(i).substr(13), value_of(i).substr(10, 60)));
    db->CompactRange(nullptr, nullptr);
    for (std::uint64_t i = 0; i < 40; i += 4) need(db->Delete({}, "key" + hex16(i).substr(13)));
    for (std::uint64_t i = 1; i < 40; i += 4) need(db->Put({}, "key" + hex16(i).substr(13), "second"));
  }
  options.compression = leveldb::kNoCompression;
  {
    const std::unique_ptr<leveldb::DB> db = open(folder, options);  // Writes the log to a table.
    for (std::uint64_t i = 0; i < 40; i += 8) need(db->Put({}, "key" + hex16(i).substr(13), "third"));
    for (std::uint64_t i = 1; i < 40; i += 8) need(db->Delete({}, "key" + hex16(i).substr(13)));
  }
  const std::unique_ptr<leveldb::DB> db = open(folder, options);
  leveldb::WriteBatch batch;
  batch.Put("", "the empty key");
  batch.Put("empty value", "");
  batch.Put(leveldb::Slice("\0\t\n\xff", 4), "bytes");
  batch.Delete("key" + hex16(2).substr(13));
  batch.Put("key" + hex16(3).substr(13), "fourth");
  need(db->Write({}, &batch));
  need(db->Delete({}, "absent"));
  need(db->Put({}, "key" + hex16(3).substr(13), "fifth"));
}

void dump(const std::string& folder) {
  const std::unique_ptr<leveldb::DB> db = open(folder, {});
  leveldb::ReadOptions all;
  all.verify_checksums = true;
  const std::unique_ptr<leveldb::Iterator> entry(db->NewIterator(all));
  tamis::test::print_entries(*entry);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view verb = argc > 2 ? argv[1] : "";
  if (verb == "make" && argc > 3) {
    make(argv[2], std::strtoull(argv[3], nullptr, 10));
  } else if (verb == "small") {
    small(argv[2]);
  } else if (verb == "dump") {
    dump(argv[2]);
  } else {
    std::fputs("leveldb_store make FOLDER ENTRIES | small FOLDER | dump FOLDER\n", stderr);
    return 2;
  }
  return 0;
}
