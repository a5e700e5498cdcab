#include <rocksdb/db.h>
#include <rocksdb/env.h>

#include "oracle/foreign_peer.h"

namespace tamis::test {
namespace {

struct RocksdbApi {
  using DB = rocksdb::DB;
  using Env = rocksdb::Env;
  using Iterator = rocksdb::Iterator;
  using ReadOptions = rocksdb::ReadOptions;
  using Slice = rocksdb::Slice;
  using Snapshot = rocksdb::Snapshot;
  using WriteBatch = rocksdb::WriteBatch;
  using WriteOptions = rocksdb::WriteOptions;
  static constexpr std::string_view kName = "RocksDB";

  static std::unique_ptr<Env> make_disk() { return std::unique_ptr<Env>(rocksdb::NewMemEnv(Env::Default())); }
  static rocksdb::Options options() {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    options.compression = rocksdb::kNoCompression;
    return options;
  }
  static void flush(DB& db) { TAMIS_CHECK(db.Flush(rocksdb::FlushOptions()).ok()); }
  static void compact(DB& db) { TAMIS_CHECK(db.CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr).ok()); }
};

}  // namespace

std::unique_ptr<PeerStore> make_rocksdb_peer() { return std::make_unique<ForeignPeer<RocksdbApi>>(); }

}  // namespace tamis::test
