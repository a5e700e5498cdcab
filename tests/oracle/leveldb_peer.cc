#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/helpers/memenv.h>
#include <leveldb/write_batch.h>

#include "oracle/foreign_peer.h"

namespace tamis::test {
namespace {

struct LeveldbApi {
  using DB = leveldb::DB;
  using Env = leveldb::Env;
  using Iterator = leveldb::Iterator;
  using ReadOptions = leveldb::ReadOptions;
  using Slice = leveldb::Slice;
  using Snapshot = leveldb::Snapshot;
  using WriteBatch = leveldb::WriteBatch;
  using WriteOptions = leveldb::WriteOptions;
  static constexpr std::string_view kName = "LevelDB";

  static std::unique_ptr<Env> make_disk() { return std::unique_ptr<Env>(leveldb::NewMemEnv(Env::Default())); }
  static leveldb::Options options() {
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 64 << 10;
    return options;
  }
  static void flush(DB&) {}  // LevelDB has none.
  static void compact(DB& db) { db.CompactRange(nullptr, nullptr); }
};

}  // namespace

std::unique_ptr<PeerStore> make_leveldb_peer() { return std::make_unique<ForeignPeer<LeveldbApi>>(); }

}  // namespace tamis::test
