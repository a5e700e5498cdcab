#include "tamis/db.h"

#include <new>
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/never_throws.h"

namespace tamis {

Result<DB> DB::open(const std::string& path, const Options& options, const Environment& environment) {
  return never_throws([&]() -> Result<DB> {
    TAMIS_TRY(std::shared_ptr<Engine> engine, Engine::open(path, options, environment));
    return DB(std::move(engine));
  });
}

DB::DB(std::shared_ptr<Engine> engine) : engine_(std::move(engine)) {}
DB::DB(DB&&) noexcept = default;
DB& DB::operator=(DB&& other) noexcept {
  DB taken(std::move(other));
  std::swap(engine_, taken.engine_);
  return *this;
}
/// Nobody can be told of an error here; the journal has everything, and the next opening recovers from it. In a forked
/// child the engine is left alone for good: its threads are not there to be waited for, its mutexes may be locked.
DB::~DB() {
  if (engine_ == nullptr) return;
  if (engine_->is_of_another_process()) {
    new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_));  // NOLINT(bugprone-unused-raii): never destroyed.
    return;
  }
  (void)engine_->close(true).ok();
}

Status DB::put(std::string_view key, std::string_view value, const WriteOptions& options) {
  return never_throws([&] { return engine_->write({EntryKind::kPut, key, value}, options, true); });
}
Status DB::remove(std::string_view key, const WriteOptions& options) {
  return never_throws([&] { return engine_->write({EntryKind::kDelete, key, {}}, options, true); });
}
Status DB::write(const Batch& batch, const WriteOptions& options) {
  return never_throws([&] { return engine_->write(batch, options, true); });
}
Status DB::try_write(const Batch& batch, const WriteOptions& options) {
  return never_throws([&] { return engine_->write(batch, options, false); });
}
Status DB::sync() {
  return never_throws([&] { return engine_->sync(); });
}

Result<std::optional<std::string>> DB::get(std::string_view key, const ReadOptions& options) const {
  std::string value;
  TAMIS_TRY(const bool found, get(key, &value, options));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}
Result<bool> DB::get(std::string_view key, std::string* value, const ReadOptions& options) const {
  return never_throws([&] { return engine_->get(key, value, options); });
}
Result<std::optional<PinnedValue>> DB::get_pinned(std::string_view key, const ReadOptions& options) const {
  return never_throws([&] { return engine_->get_pinned(key, options); });
}
std::vector<Result<std::optional<std::string>>> DB::multi_get(std::span<const std::string_view> keys,
                                                              const ReadOptions& options) const {
  return never_throws([&] { return engine_->multi_get(keys, options); });
}
Status DB::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                     const ReadOptions& options) const {
  return never_throws([&] { return engine_->multi_get(keys, values, options); });
}

Iterator DB::scan(const ScanOptions& options, Caller caller) const {
  return never_throws([&] { return engine_->scan(options, caller); });
}
Snapshot DB::snapshot(Caller caller) {
  return never_throws([&] { return engine_->snapshot(caller); });
}

Status DB::flush() {
  return never_throws([&] { return engine_->flush(); });
}
Status DB::compact(const Range& range, const Progress& progress) {
  return never_throws([&] { return engine_->compact(range, progress); });
}
Status DB::wait_idle() {
  return never_throws([&] { return engine_->wait_idle(); });
}
Status DB::resume() {
  return never_throws([&] { return engine_->resume(); });
}
Status DB::checkpoint(const std::string& path) {
  return never_throws([&] { return engine_->checkpoint(path); });
}
Result<VerifyReport> DB::verify(const Progress& progress) const {
  return never_throws([&] { return engine_->verify(progress); });
}

Result<std::uint64_t> DB::approximate_size(const Range& range) const {
  return never_throws([&] { return engine_->approximate_size(range); });
}
Stats DB::stats() const {
  return never_throws([&] { return engine_->stats(); });
}
Result<Explanation> DB::explain(std::string_view key, const ReadOptions& options) const {
  return never_throws([&] { return engine_->explain(key, options); });
}
PlanReport DB::plan(std::optional<std::uint64_t> filter_memory) const {
  return never_throws([&] { return engine_->plan(filter_memory); });
}

Status DB::close() {
  return never_throws([&] { return engine_->close(false); });
}

}  // namespace tamis
