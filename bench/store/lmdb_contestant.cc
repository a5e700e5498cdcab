#include "store/contestant.h"

#ifndef TAMIS_HAS_LMDB

std::unique_ptr<tamis::bench::Contestant> tamis::bench::make_lmdb() { return nullptr; }

#else

#include <fmt/core.h>
#include <lmdb.h>

#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kCommitsInFill = 10;  // One entry in this many is put by its own commit.

void need(int error) {
  if (error != MDB_SUCCESS) stop(fmt::format("lmdb: {}", mdb_strerror(error)));
}

MDB_val value_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }
std::string_view view(const MDB_val& value) { return {static_cast<const char*>(value.mv_data), value.mv_size}; }

/// Every write is a transaction, and so is every read: a longer one would hide others' writes.
class LmdbSession final : public Session {
 public:
  LmdbSession(MDB_env* environment, MDB_dbi table, bool is_ascending)
      : environment_(environment), table_(table), flags_(is_ascending ? MDB_APPEND : 0) {
    need(mdb_txn_begin(environment_, nullptr, MDB_RDONLY, &reading_));
    mdb_txn_reset(reading_);
  }
  ~LmdbSession() override { mdb_txn_abort(reading_); }
  LmdbSession(const LmdbSession&) = delete;
  LmdbSession& operator=(const LmdbSession&) = delete;

  void put(std::string_view key, std::string_view value, bool sync) override {
    const Entry entry = {key, value};
    put_batch({&entry, 1}, sync);
  }
  void put_batch(std::span<const Entry> entries, bool /*sync*/) override {
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    for (const Entry& entry : entries) {
      MDB_val at = value_of(entry.key);
      MDB_val what = value_of(entry.value);
      need(mdb_put(transaction, table_, &at, &what, flags_));
    }
    need(mdb_txn_commit(transaction));
  }
  bool get(std::string_view key, std::string& buffer) override {
    return use_value(key, [&](std::string_view value) { buffer.assign(value); });
  }
  [[nodiscard]] bool can_pin() const override { return true; }
  void get_pinned(std::string_view key, Tally& tally) override {
    use_value(key, [&](std::string_view value) { tally.add(value); });
  }
  void scan(std::string_view from, std::uint64_t count, Tally& tally) override {
    need(mdb_txn_renew(reading_));
    MDB_cursor* cursor = nullptr;
    need(mdb_cursor_open(reading_, table_, &cursor));
    MDB_val key = value_of(from);
    MDB_val value = {};
    const MDB_cursor_op first = from.empty() ? MDB_FIRST : MDB_SET_RANGE;
    int error = mdb_cursor_get(cursor, &key, &value, first);
    for (; count > 0 && error == MDB_SUCCESS; --count, error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
      tally.add(view(key), view(value));
    }
    if (error != MDB_NOTFOUND) need(error);
    mdb_cursor_close(cursor);
    mdb_txn_reset(reading_);
  }
  bool seek(std::string_view from, std::string& key) override {
    need(mdb_txn_renew(reading_));
    MDB_cursor* cursor = nullptr;
    need(mdb_cursor_open(reading_, table_, &cursor));
    MDB_val at = value_of(from);
    MDB_val value = {};
    const int error = mdb_cursor_get(cursor, &at, &value, from.empty() ? MDB_FIRST : MDB_SET_RANGE);
    if (error != MDB_NOTFOUND) {
      need(error);
      key.assign(view(at));
    }
    mdb_cursor_close(cursor);
    mdb_txn_reset(reading_);
    return error == MDB_SUCCESS;
  }
  void remove(std::string_view key) override {
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    MDB_val at = value_of(key);
    need(mdb_del(transaction, table_, &at, nullptr));
    need(mdb_txn_commit(transaction));
  }

 private:
  /// Inside a transaction, which keeps the value where it is.
  template <typename Use>
  bool use_value(std::string_view key, const Use& use) {
    need(mdb_txn_renew(reading_));
    MDB_val wanted = value_of(key);
    MDB_val found = {};
    const int error = mdb_get(reading_, table_, &wanted, &found);
    if (error != MDB_NOTFOUND) {
      need(error);
      use(view(found));
    }
    mdb_txn_reset(reading_);
    return error == MDB_SUCCESS;
  }

  MDB_env* environment_;
  MDB_dbi table_;
  unsigned flags_;
  MDB_txn* reading_ = nullptr;
};

/// Without fsync per commit (MDB_NOSYNC), as the others run without one, except where syncing is measured.
class LmdbContestant final : public Contestant {
 public:
  [[nodiscard]] std::string id() const override { return "lmdb"; }
  [[nodiscard]] std::string name() const override {
    return fmt::format("LMDB {}.{}.{}" TAMIS_LMDB_BUILD, MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH);
  }
  [[nodiscard]] std::uint64_t single_puts(std::uint64_t entries) const override {
    return (entries + kCommitsInFill - 1) / kCommitsInFill;
  }

  void open(const std::string& directory, const StoreShape& shape) override {
    if (shape.is_cold) drop_cached_pages(directory);
    is_ascending_ = shape.is_ascending;
    unsigned flags = MDB_NOTLS | MDB_NOMEMINIT;
    if (!shape.syncs) flags |= MDB_NOSYNC | MDB_WRITEMAP;
    if (shape.is_cold) flags |= MDB_NORDAHEAD;
    need(mdb_env_create(&environment_));
    need(mdb_env_set_mapsize(environment_, std::size_t{16} << 30));
    need(mdb_env_open(environment_, directory.c_str(), flags, 0644));
    MDB_txn* transaction = nullptr;
    need(mdb_txn_begin(environment_, nullptr, 0, &transaction));
    need(mdb_dbi_open(transaction, nullptr, 0, &table_));
    need(mdb_txn_commit(transaction));
    faults_at_open_ = major_faults();
  }
  std::unique_ptr<Session> session() override {
    return std::make_unique<LmdbSession>(environment_, table_, is_ascending_);
  }
  void flush() override {}
  void settle() override {}
  void compact() override {}
  /// Pages that the kernel had to fetch.
  [[nodiscard]] std::optional<std::uint64_t> storage_reads() const override { return major_faults() - faults_at_open_; }
  void close() override { mdb_env_close(environment_); }

 private:
  MDB_env* environment_ = nullptr;
  MDB_dbi table_ = 0;
  bool is_ascending_ = false;
  std::uint64_t faults_at_open_ = 0;
};

}  // namespace

std::unique_ptr<Contestant> make_lmdb() { return std::make_unique<LmdbContestant>(); }

}  // namespace tamis::bench

#endif
