// Exports a LevelDB store: prints every entry of OLD as a line that 'tamis load --hex' reads.
//
//     from_leveldb OLD | tamis load NEW --hex
//
// For RocksDB, replace leveldb with rocksdb. Writes nothing into OLD, except that LevelDB, like RocksDB, recovers its
// own log when it opens a store: copy the store first if it must not change.
#include <leveldb/db.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

std::string hex(const leveldb::Slice& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(bytes[i]));
    text += digits;
  }
  return text;
}

int fail(const leveldb::Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail(leveldb::Status::InvalidArgument("usage: from_leveldb OLD [KEY VALUE]"));
  leveldb::Options options;
  options.create_if_missing = argc == 4;
  leveldb::DB* opened = nullptr;
  if (const leveldb::Status status = leveldb::DB::Open(options, argv[1], &opened); !status.ok()) return fail(status);
  const std::unique_ptr<leveldb::DB> old(opened);
  if (argc == 4) {  // Makes an OLD to try it with.
    const leveldb::Status put = old->Put({}, argv[2], argv[3]);
    return put.ok() ? 0 : fail(put);
  }

  // [lines]
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  read.fill_cache = false;
  const std::unique_ptr<leveldb::Iterator> entry(old->NewIterator(read));
  for (entry->SeekToFirst(); entry->Valid(); entry->Next()) {
    std::printf("%s\t%s\n", hex(entry->key()).c_str(), hex(entry->value()).c_str());
  }
  if (!entry->status().ok()) return fail(entry->status());
  // [/lines]
  return std::fflush(stdout) == 0 ? 0 : 1;
}
