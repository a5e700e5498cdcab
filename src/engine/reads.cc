// Reads: the store must be open, and the snapshot its own; then the Reader answers. Scans and snapshots begin here.
#include <utility>

#include "base/try.h"
#include "engine/engine.h"
#include "engine/iterator_state.h"
#include "engine/snapshot_state.h"

namespace tamis {

Status Engine::check_readable(const Snapshot* snapshot) const {
  TAMIS_TRY_STATUS(check_open());
  if (snapshot == nullptr || (snapshot->state() != nullptr && snapshot->state()->belongs_to(*this))) return {};
  return Status::invalid_argument("the snapshot is not of this store");
}

Result<bool> Engine::get(std::string_view key, std::string* value, const ReadOptions& options) {
  if (!may_read(options.snapshot)) TAMIS_TRY_STATUS(check_readable(options.snapshot));
  return reader_.get(key, value, options);
}

Result<bool> Engine::exists(std::string_view key, const ReadOptions& options) {
  if (!may_read(options.snapshot)) TAMIS_TRY_STATUS(check_readable(options.snapshot));
  return reader_.exists(key, options);
}

Result<std::optional<PinnedValue>> Engine::get_pinned(std::string_view key, const ReadOptions& options) {
  TAMIS_TRY_STATUS(check_readable(options.snapshot));
  return reader_.get_pinned(key, options, shared_from_this());
}

std::vector<Result<std::optional<std::string>>> Engine::multi_get(std::span<const std::string_view> keys,
                                                                  const ReadOptions& options) {
  if (const Status readable = check_readable(options.snapshot); !readable.ok()) return {keys.size(), readable};
  return reader_.multi_get(keys, options);
}

Status Engine::multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                         const ReadOptions& options) {
  Status readable = check_readable(options.snapshot);
  if (readable.ok()) return reader_.multi_get(keys, values, options);
  values->clear();
  return readable;
}

Result<Explanation> Engine::explain(std::string_view key, const ReadOptions& options) {
  TAMIS_TRY_STATUS(check_readable(options.snapshot));
  return reader_.explain(key, options);
}

/// The scan keeps what it needs of the view, which is looked at only (rule 10).
std::unique_ptr<IteratorState> Engine::begin_scan(const Snapshot* snapshot, Caller caller) {
  if (Status readable = check_readable(snapshot); !readable.ok()) {
    return std::make_unique<IteratorState>(shared_from_this(), std::move(readable));
  }
  const EpochGuard guard;
  const auto [view, sequence] = view_.peek_at([&] { return reader_.sequence_for(snapshot); });
  return std::make_unique<IteratorState>(shared_from_this(), view, sequence, caller);
}

Iterator Engine::scan(const ScanOptions& options, Caller caller) {
  std::unique_ptr<IteratorState> state = begin_scan(options.snapshot, caller);
  if (!state->status().ok()) return Iterator(std::move(state));
  KeyRange range;
  if (!options.prefix.empty()) range = KeyRange::of_prefix(options.prefix);
  range.narrow(options.from, options.to);
  state->walk_over(std::move(range), options);
  return Iterator(std::move(state));
}

/// Read and registered under the mutex under which a rewrite copies the list (rule 9).
Snapshot Engine::snapshot(Caller caller) {
  if (is_of_another_process()) return {};
  MutexLock lock(state_mutex_);
  const Sequence sequence{published_.load(std::memory_order_acquire)};
  return Snapshot(std::make_shared<SnapshotState>(shared_from_this(), sequence, caller));
}

std::uint64_t Snapshot::sequence() const { return state_ == nullptr ? 0 : number_of(state_->sequence()); }

/// For long work on tables, which need not keep memtables alive.
Result<std::shared_ptr<const Version>> Engine::current_version() const {
  TAMIS_TRY_STATUS(check_open());
  return view_.take()->version;
}

Result<std::uint64_t> Engine::approximate_size(const Range& range) {
  TAMIS_TRY(const std::shared_ptr<const Version> version, current_version());
  return version->approximate_bytes(range.from, range.to);
}

}  // namespace tamis
