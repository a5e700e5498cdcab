#include "tamis/db.h"

#include <new>
#include <utility>

#include "base/try.h"
#include "engine/engine.h"

namespace tamis {

Result<DB> DB::open(const std::string& path, const Options& options, const Environment& environment) {
  TAMIS_TRY(std::shared_ptr<Engine> engine, Engine::open(path, options, environment));
  return DB(std::move(engine));
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
  thread_local Batch batch;  // Keeps its memory from put to put.
  batch.clear();
  batch.put(key, value);
  return write(batch, options);
}
Status DB::remove(std::string_view key, const WriteOptions& options) {
  thread_local Batch batch;
  batch.clear();
  batch.remove(key);
  return write(batch, options);
}
Status DB::write(const Batch& batch, const WriteOptions& options) { return engine_->write(batch, options, true); }
Status DB::try_write(const Batch& batch, const WriteOptions& options) { return engine_->write(batch, options, false); }
Status DB::sync() { return engine_->sync(); }

Result<std::optional<std::string>> DB::get(std::string_view key, const ReadOptions& options) const {
  std::string value;
  TAMIS_TRY(const bool found, engine_->get(key, &value, options));
  if (!found) return std::optional<std::string>();
  return std::optional<std::string>(std::move(value));
}
Result<bool> DB::get(std::string_view key, std::string* value, const ReadOptions& options) const {
  return engine_->get(key, value, options);
}
Result<std::optional<PinnedValue>> DB::get_pinned(std::string_view key, const ReadOptions& options) const {
  return engine_->get_pinned(key, options);
}
std::vector<Result<std::optional<std::string>>> DB::multi_get(std::span<const std::string_view> keys,
                                                              const ReadOptions& options) const {
  return engine_->multi_get(keys, options);
}

Iterator DB::scan(const ScanOptions& options, Caller caller) const { return engine_->scan(options, caller); }
Snapshot DB::snapshot(Caller caller) { return engine_->snapshot(caller); }

Status DB::flush() { return engine_->flush(); }
Status DB::compact(const Range& range, const Progress& progress) { return engine_->compact(range, progress); }
Status DB::wait_idle() { return engine_->wait_idle(); }
Status DB::resume() { return engine_->resume(); }
Status DB::checkpoint(const std::string& path) { return engine_->checkpoint(path); }
Result<VerifyReport> DB::verify(const Progress& progress) const { return engine_->verify(progress); }

Result<std::uint64_t> DB::approximate_size(const Range& range) const { return engine_->approximate_size(range); }
Stats DB::stats() const { return engine_->stats(); }
Result<Explanation> DB::explain(std::string_view key, const ReadOptions& options) const {
  return engine_->explain(key, options);
}
PlanReport DB::plan(std::optional<std::uint64_t> filter_memory) const { return engine_->plan(filter_memory); }

Status DB::close() { return engine_->close(false); }

}  // namespace tamis
