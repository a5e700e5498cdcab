#include "tamis/db.h"

#include <type_traits>
#include <utility>

#include "base/try.h"
#include "engine/fork_generation.h"
#include "engine/never_throws.h"
#include "engine/store.h"

namespace tamis {
namespace {

Status no_store() { return Status::closed("this DB belongs to no store: it was moved from or never opened"); }

/// The store's answer. Without a store: kClosed, or an empty answer if it cannot hold a status.
template <typename Call>
auto ask(const std::shared_ptr<Store>& store, Call call) {
  return never_throws([&] {
    using Answer = std::invoke_result_t<Call, Store&>;
    if (store != nullptr) [[likely]]
      return call(*store);
    if constexpr (std::is_constructible_v<Answer, Status>) {
      return Answer(no_store());
    } else {
      return Answer();
    }
  });
}

}  // namespace

Result<DB> DB::open(const std::string& path, const Options& options, const Environment& environment) {
  return never_throws([&]() -> Result<DB> {
    TAMIS_TRY(std::shared_ptr<Store> store, Store::open(path, options, environment));
    return DB(std::move(store));
  });
}

DB::DB(std::shared_ptr<Store> store) : store_(std::move(store)) {}
DB::DB(DB&&) noexcept = default;
DB& DB::operator=(DB&& other) noexcept {
  DB taken(std::move(other));
  std::swap(store_, taken.store_);
  return *this;
}
/// An error cannot be reported here; the journal has everything, and the next opening recovers from it. A forked child
/// leaves the store alone: its threads do not exist there, and its mutexes may be locked.
DB::~DB() {
  if (store_ == nullptr) return;
  if (store_->is_of_another_process()) {
    leave_to_parent(std::move(store_));
    return;
  }
  (void)store_->close(true).ok();
}

Status DB::put(std::string_view key, std::string_view value, const WriteOptions& options) {
  return ask(store_, [&](Store& store) { return store.put(kDefaultKeyspace, key, value, options); });
}
Status DB::remove(std::string_view key, const WriteOptions& options) {
  return ask(store_, [&](Store& store) {
    return store.write({kDefaultKeyspace, EntryKind::kDelete, key, {}}, options, true);
  });
}
Status DB::remove_range(std::string_view from, std::optional<std::string_view> to, const WriteOptions& options) {
  return ask(store_, [&](Store& store) {
    Batch batch;
    batch.remove_range(from, to);
    return store.write_batch(batch, options, true);
  });
}
Status DB::merge(std::string_view key, std::string_view operand, const WriteOptions& options) {
  return ask(store_, [&](Store& store) { return store.merge(kDefaultKeyspace, key, operand, options); });
}
Status DB::write(const Batch& batch, const WriteOptions& options) {
  return ask(store_, [&](Store& store) { return store.write_batch(batch, options, true); });
}
Status DB::try_write(const Batch& batch, const WriteOptions& options) {
  return ask(store_, [&](Store& store) { return store.write_batch(batch, options, false); });
}
Status DB::sync() {
  return ask(store_, [&](Store& store) { return store.sync(); });
}

Result<std::optional<std::string>> DB::get(std::string_view key, const ReadOptions& options) const {
  std::string value;
  TAMIS_TRY(const bool found, get(key, &value, options));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}
Result<bool> DB::get(std::string_view key, std::string* value, const ReadOptions& options) const {
  return ask(store_, [&](Store& store) { return store.get(store.default_keyspace(), key, value, options); });
}
Result<bool> DB::exists(std::string_view key, const ReadOptions& options) const {
  return ask(store_, [&](Store& store) { return store.exists(store.default_keyspace(), key, options); });
}
Result<std::optional<PinnedValue>> DB::get_pinned(std::string_view key, const ReadOptions& options) const {
  return ask(store_, [&](Store& store) { return store.get_pinned(store.default_keyspace(), key, options); });
}
std::vector<Result<std::optional<std::string>>> DB::multi_get(std::span<const std::string_view> keys,
                                                              const ReadOptions& options) const {
  if (store_ == nullptr) return std::vector<Result<std::optional<std::string>>>(keys.size(), no_store());
  return ask(store_, [&](Store& store) { return store.multi_get(store.default_keyspace(), keys, options); });
}
Status DB::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                     const ReadOptions& options) const {
  return ask(store_, [&](Store& store) { return store.multi_get(store.default_keyspace(), keys, values, options); });
}

Iterator DB::scan(const ScanOptions& options, Caller caller) const {
  return ask(store_, [&](Store& store) { return store.scan(store.default_keyspace(), options, caller); });
}
Snapshot DB::snapshot(Caller caller) {
  return ask(store_, [&](Store& store) { return store.snapshot(caller); });
}

Result<Keyspace> DB::keyspace(std::string_view name, const KeyspaceOptions& options) {
  return ask(store_, [&](Store& store) -> Result<Keyspace> {
    TAMIS_TRY(std::shared_ptr<OpenKeyspace> keyspace, store.keyspace(name, options));
    return Keyspace(store_, std::move(keyspace));
  });
}
Status DB::drop_keyspace(std::string_view name) {
  return ask(store_, [&](Store& store) { return store.drop_keyspace(name); });
}
std::vector<KeyspaceInfo> DB::keyspaces() const {
  return ask(store_, [](Store& store) { return store.keyspaces(); });
}

Status DB::flush() {
  return ask(store_, [&](Store& store) { return store.flush(); });
}
Status DB::compact(const Range& range, const Progress& progress) {
  return ask(store_, [&](Store& store) { return store.compact(store.default_keyspace(), range, progress); });
}
Status DB::wait_idle() {
  return ask(store_, [&](Store& store) { return store.wait_idle(); });
}
Status DB::set_option(std::string_view name, std::string_view value) {
  return ask(store_, [&](Store& store) { return store.set_option(name, value); });
}
Status DB::resume() {
  return ask(store_, [&](Store& store) { return store.resume(); });
}
Result<std::uint64_t> DB::catch_up() {
  return ask(store_, [&](Store& store) { return store.catch_up(); });
}
Status DB::checkpoint(const std::string& path) {
  return ask(store_, [&](Store& store) { return store.checkpoint(path); });
}
Result<VerifyReport> DB::verify(const Progress& progress) const {
  return ask(store_, [&](Store& store) { return store.verify(progress); });
}

Result<std::uint64_t> DB::approximate_size(const Range& range) const {
  return ask(store_, [&](Store& store) { return store.approximate_size(store.default_keyspace(), range); });
}
Stats DB::stats() const {
  return ask(store_, [&](Store& store) { return store.stats(); });
}
std::optional<WriterStats> DB::writer_stats() const {
  return ask(store_, [&](Store& store) { return store.writer_stats(); });
}
Result<Explanation> DB::explain(std::string_view key, const ReadOptions& options) const {
  return ask(store_, [&](Store& store) { return store.explain(store.default_keyspace(), key, options); });
}
PlanReport DB::plan(std::optional<std::uint64_t> filter_memory) const {
  return ask(store_, [&](Store& store) { return store.plan(filter_memory); });
}

Status DB::close() {
  return ask(store_, [&](Store& store) { return store.close(false); });
}

}  // namespace tamis
