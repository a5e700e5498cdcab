#include "store/contestant.h"

#ifndef TAMIS_HAS_LMDB

std::unique_ptr<tamis::bench::StoreContestant> tamis::bench::make_lmdb() { return nullptr; }

#else

#include <fmt/core.h>
#include <lmdb.h>

#include <cstdlib>

namespace tamis::bench {
namespace {

void need(int error) {
  if (error == MDB_SUCCESS) return;
  fmt::print(stderr, "lmdb: {}\n", mdb_strerror(error));
  std::exit(3);
}

MDB_val value_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

/// Without fsync per commit (MDB_NOSYNC), as the others run without one; reads reuse one transaction.
class LmdbContestant final : public StoreContestant {
 public:
  [[nodiscard]] std::string name() const override {
    return fmt::format("LMDB {}.{}.{}", MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }

  void open(const std::string& directory) override {
    need(mdb_env_create(&environment_));
    need(mdb_env_set_mapsize(environment_, std::size_t{16} << 30));
    need(mdb_env_open(environment_, directory.c_str(), MDB_NOSYNC | MDB_WRITEMAP | MDB_NORDAHEAD, 0644));
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    need(mdb_dbi_open(transaction, nullptr, 0, &table_));
    need(mdb_txn_commit(transaction));
  }
  void put(std::string_view key, std::string_view value) override {
    end_reading();
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    put_in(transaction, key, value);
    need(mdb_txn_commit(transaction));
  }
  void put_batch(std::span<const std::pair<std::string, std::string> > entries) override {
    end_reading();
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    for (const auto& [key, value] : entries) put_in(transaction, key, value);
    need(mdb_txn_commit(transaction));
  }
  void settle() override {}
  bool get(std::string_view key, std::string& buffer) override {
    begin_reading();
    MDB_val wanted = value_of(key);
    MDB_val found = {};
    const int error = mdb_get(reading_, table_, &wanted, &found);
    if (error == MDB_NOTFOUND) return false;
    need(error);
    buffer.assign(static_cast<const char*>(found.mv_data), found.mv_size);
    return true;
  }
  std::uint64_t scan(std::string_view from, std::size_t count) override {
    begin_reading();
    MDB_cursor* cursor = nullptr;
    need(mdb_cursor_open(reading_, table_, &cursor));
    MDB_val key = value_of(from);
    MDB_val value = {};
    std::uint64_t bytes = 0;
    int error = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    for (; count > 0 && error == MDB_SUCCESS; --count, error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      bytes += key.mv_size + value.mv_size;
    }
    if (error != MDB_NOTFOUND) need(error);
    mdb_cursor_close(cursor);
    return bytes;
  }
  void close() override {
    end_reading();
    mdb_env_close(environment_);
  }

 private:
  void put_in(MDB_txn* transaction, std::string_view key, std::string_view value) {
    MDB_val at = value_of(key);
    MDB_val what = value_of(value);
    need(mdb_put(transaction, table_, &at, &what, 0));
  }
  void begin_reading() {
    if (reading_ == nullptr) need(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_));
  }
  void end_reading() {
    if (reading_ != nullptr) mdb_txn_abort(reading_);
    reading_ = nullptr;
  }

  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
  MDB_txn* reading_ = nullptr;
};

}  // namespace

std::unique_ptr<StoreContestant> make_lmdb() { return std::make_unique<LmdbContestant>(); }

}  // namespace tamis::bench

#endif
