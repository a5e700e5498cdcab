// What the handles of leveldb/c.h point to.
#pragma once

#include <leveldb/c.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <memory>

struct leveldb_t {
  std::unique_ptr<leveldb::DB> rep;
};
struct leveldb_iterator_t {
  std::unique_ptr<leveldb::Iterator> rep;
};
struct leveldb_writebatch_t {
  leveldb::WriteBatch rep;
};
struct leveldb_snapshot_t {
  const leveldb::Snapshot* rep;
};
struct leveldb_options_t {
  leveldb::Options rep;
};
struct leveldb_readoptions_t {
  leveldb::ReadOptions rep;
};
struct leveldb_writeoptions_t {
  leveldb::WriteOptions rep;
};
struct leveldb_cache_t {
  std::unique_ptr<leveldb::Cache> rep;
};
struct leveldb_env_t {
  leveldb::Env* rep;
};
/// No function of leveldb/c.h makes one.
struct leveldb_logger_t {
  leveldb::Logger* rep;
};
