#include "engine/store.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>

#include "base/try.h"
#include "engine/checkpoint.h"
#include "engine/due_times.h"
#include "engine/iterator_state.h"
#include "engine/memory_shares.h"
#include "engine/recovery.h"
#include "engine/snapshot_state.h"
#include "engine/store_files.h"
#include "engine/verify.h"
#include "entry/batch_inside.h"
#include "io/path.h"

namespace tamis {
namespace {

std::uint64_t next_store_number() {
  static std::atomic<std::uint64_t> numbers = 0;
  return ++numbers;
}

KeyRange range_of(const ScanOptions& options) {
  KeyRange range;
  if (!options.prefix.empty()) range = KeyRange::of_prefix(options.prefix);
  range.narrow(options.from, options.to);
  return range;
}

}  // namespace

Result<std::shared_ptr<Store>> Store::open(const std::string& path, const Options& options,
                                           const Environment& environment) {
  TAMIS_TRY_STATUS(check_options(options));
  TAMIS_TRY(std::string directory, plain_path(path));
  auto context = std::make_unique<StoreContext>(std::move(directory), options, environment);
  TAMIS_TRY(std::unique_ptr<StoreMemory> memory, StoreMemory::make(*context));
  std::shared_ptr<Store> store(new Store(std::move(context), std::move(memory)));
  TAMIS_TRY_STATUS(store->open_parts());
  return store;
}

Store::Store(std::unique_ptr<StoreContext> context, std::unique_ptr<StoreMemory> memory)
    : fork_generation_(fork_generation()),
      open_generation_(fork_generation_),
      read_generation_(context->options.follows ? kClosed : fork_generation_),
      context_(std::move(context)),
      health_(*context_, changes_),
      memory_(std::move(memory)),
      catalog_(*context_, health_),
      journals_(context_->files, context_->directory, *context_->random,
                share_memory(context_->options, MetadataWanted()).journal),
      keyspaces_(*context_, *memory_, catalog_, health_, published_, live_handles_, changes_),
      shared_work_(changes_),
      rewrites_(*context_, catalog_, journals_, keyspaces_, published_, live_handles_, empty_ranges_, shared_work_,
                memory_->cache()),
      residency_(*memory_, keyspaces_),
      maintenance_(*context_, catalog_, keyspaces_, journals_, rewrites_, residency_, health_, changes_, shared_work_),
      delete_walks_(keyspaces_, empty_ranges_, health_),
      writer_(*context_, catalog_, keyspaces_, journals_, maintenance_, delete_walks_, health_, published_,
              live_handles_, changes_),
      counters_(*context_),
      number_(next_store_number()) {}

Store::~Store() { stop_background(); }

Status Store::open_parts() {
  if (context_->options.follows) {
    TAMIS_TRY_STATUS(check_can_be_followed(*context_));
    follower_ =
        std::make_unique<Follower>(*context_, *memory_, followed_tables_, catalog_, keyspaces_, journals_, published_);
    return follower_->open();
  }
  {
    MutexLock lock(lock_mutex_);
    TAMIS_TRY(lock_, lock_folder(*context_));
  }
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context_->files, context_->directory));
  if (found.has_current && context_->options.error_if_exists) {
    return Status::invalid_argument(context_->directory + ": a store is here already, and error_if_exists is set");
  }
  if (found.has_counters && !context_->options.read_only) counters_.remove_old();
  TAMIS_TRY_STATUS(catalog_.open(found.has_current));
  if (context_->options.direct_reads) TAMIS_TRY_STATUS(check_direct_reads(*context_));
  catalog_.inspect([this](const ManifestState& state) {
    context_->identity = state.identity;
    context_->hasher = KeyHasher(state.identity.hash_key);
    if (state.features.includes(Features::of(Feature::kExpiry))) context_->expiry.open(state.horizon);
    journals_.open(state.identity.store_id, state.term, state.features);
  });
  TAMIS_TRY_STATUS(keyspaces_.open());
  TAMIS_TRY_STATUS(Recovery(*context_, catalog_, keyspaces_, journals_, maintenance_, published_).run());
  writer_.begin();
  maintenance_.set_publisher([this] { counters_.publish_if_due([this] { return stats(); }); });
  if (!context_->options.read_only) maintenance_.pool().start();
  return {};
}

/// What is being flushed is flushed; a compaction ends early.
void Store::stop_background() {
  health_.begin_closing();
  maintenance_.pool().stop();
}

/// What is in memory stays in the journal, which is marked as closed, so that the next opening continues it; unless
/// reading it back would take long. When writes had stopped, nothing is marked and what was not synced may not be
/// durable: the answer says why. A flush that fails only now is no such stop: on a full disk the journal, which has
/// everything, can still be closed.
Status Store::close(bool detaches) {
  TAMIS_TRY_STATUS(check_open());
  if (!detaches && !live_handles_.empty()) {
    return Status::busy(fmt::format("{}: still in use: {}", context_->directory, live_handles_.to_text()));
  }
  const bool is_writable = !context_->options.read_only;
  const bool is_long_to_replay = keyspaces_.active_bytes() > kMaxLeftInJournal;
  const bool had_stopped = health_.has_stopped();
  if (is_long_to_replay && is_writable && !had_stopped) (void)flush().ok();
  stop_background();
  keyspaces_.release_dropped();
  keyspaces_.remove_obsolete_files();  // Some may have been held until just now.
  counters_.remove();
  open_generation_ = kClosed;
  read_generation_ = kClosed;
  const std::optional<Health::Stop> stop = health_.stop();
  Status closed = stop ? stop->why : Status();
  const bool is_whole = !stop || (!had_stopped && !catalog_.has_failed() && !journals_.is_lost());
  if (is_writable && is_whole) {
    const Result<KnownJournalEnd> journal = journals_.close(catalog_.known_journal_end());
    closed = journal.ok() ? catalog_.close(*journal) : journal.status();
  }
  MutexLock lock(lock_mutex_);
  lock_.reset();
  return closed;
}

Status Store::check_open() const {
  if (open_generation_ == kClosed) return Status::closed(context_->directory + ": the store was closed");
  if (is_of_another_process()) {
    return Status::closed(context_->directory + ": opened before a fork; only the process that opened it may use it");
  }
  return {};
}

bool Store::owns(const Snapshot& snapshot) const {
  return snapshot.state() != nullptr && snapshot.state()->belongs_to(*this);
}

Result<Reader::KeptView> Store::followed(const OpenKeyspace& keyspace, const Snapshot* snapshot) const {
  TAMIS_TRY_STATUS(check_open());
  if (snapshot != nullptr && !owns(*snapshot)) return Status::invalid_argument("the snapshot is not of this store");
  const FollowedMoment moment = snapshot != nullptr ? snapshot->state()->followed() : follower_->now();
  std::shared_ptr<const ReadView> view = moment.find(keyspace.id());
  if (view == nullptr) return Status::invalid_argument("the keyspace '" + keyspace.name + "' was dropped");
  return Reader::KeptView{std::move(view), moment.sequence};
}

Result<std::uint64_t> Store::catch_up() {
  TAMIS_TRY_STATUS(check_open());
  if (follower_ != nullptr) return follower_->catch_up();
  return Status::not_supported(context_->directory + ": opened without Options::follows");
}

Status Store::write(const Changes& changes, const WriteOptions& options, bool may_wait, const CommitCheck* check) {
  if (!is_open()) [[unlikely]]
    return check_open();
  return writer_.write(changes, options, may_wait, check);
}

Status Store::write_batch(const Batch& batch, const WriteOptions& options, bool may_wait, const CommitCheck* check) {
  TAMIS_TRY_STATUS(check_owns(batch));
  const bool has_lifetimes = BatchInside::has_lifetimes(batch) || options.expires_in.count() != 0;
  if (!has_lifetimes && !context_->expiry.has_defaults()) [[likely]]
    return write(batch, options, may_wait, check);
  TAMIS_TRY_STATUS(batch.status());
  if (options.expires_in.count() < 0) return Status::invalid_argument("expires_in is negative");
  ExpiryDefaults defaults{.of_write = options.expires_in, .of_keyspace = {}};
  defaults.of_keyspace = [this](KeyspaceId id) {
    const std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(id);
    return keyspace == nullptr ? std::chrono::milliseconds() : keyspace->tree.settings()->options.default_expiry;
  };
  return write(with_due_times(batch, context_->expiry.now(), defaults), options, may_wait, check);
}

Status Store::put_expiring(KeyspaceId keyspace, std::string_view key, std::string_view value,
                           const WriteOptions& options) {
  Batch batch;
  BatchInside::add(batch, keyspace, EntryKind::kPut, key, value);
  return write_batch(batch, options, true);
}

Status Store::merge(KeyspaceId keyspace, std::string_view key, std::string_view operand, const WriteOptions& options) {
  Batch batch;
  BatchInside::add_merge(batch, keyspace, key, operand);
  return write_batch(batch, options, true);
}

Status Store::check_owns(const Batch& batch) const {
  const std::uint64_t owner = BatchInside::store(batch);
  if (owner == 0 || owner == number_) return {};
  return Status::invalid_argument("the batch names keyspaces of another store");
}

Status Store::sync() {
  TAMIS_TRY_STATUS(check_open());
  return context_->options.read_only ? Status() : writer_.sync();
}

Status Store::flush() {
  TAMIS_TRY_STATUS(check_open());
  return writer_.flush();
}

/// Before memory is shared again, nothing has more than it had; and what has less gives it back before this returns.
Status Store::set_option(std::string_view name, std::string_view value) {
  TAMIS_TRY_STATUS(check_open());
  const auto change = [&] { return memory_->set_option(name, value); };
  TAMIS_TRY_STATUS(context_->options.read_only ? change().status() : writer_.change_memory(change));
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    keyspace->tree.share_memory();
    keyspace->indexer.drop_if_too_large();
  }
  residency_.fit();
  return {};
}

Status Store::resume() {
  TAMIS_TRY_STATUS(check_open());
  return writer_.resume();
}

Result<Reader::KeptView> Store::view_for(const OpenKeyspace& keyspace, const Snapshot* snapshot) const {
  if (!may_read(snapshot)) [[unlikely]]
    return followed(keyspace, snapshot);
  return keyspace.reader.begin_read(snapshot);
}

Result<bool> Store::get_followed(OpenKeyspace& keyspace, std::string_view key, std::string* value,
                                 const ReadOptions& options) {
  TAMIS_TRY(const Reader::KeptView moment, followed(keyspace, options.snapshot));
  return keyspace.reader.get(key, value, options, moment);
}

Result<bool> Store::get_timed(OpenKeyspace& keyspace, std::string_view key, std::string* value,
                              const ReadOptions& options) {
  const LatencyTimer timer(context_->timed.get);
  return keyspace.reader.get(key, value, options);
}

Result<bool> Store::exists(OpenKeyspace& keyspace, std::string_view key, const ReadOptions& options) {
  if (!may_read(options.snapshot)) [[unlikely]] {
    TAMIS_TRY(const Reader::KeptView moment, followed(keyspace, options.snapshot));
    return keyspace.reader.exists(key, options, moment);
  }
  if (!GetSampling::is_sampled()) [[likely]]
    return keyspace.reader.exists(key, options);
  const LatencyTimer timer(context_->timed.get);
  return keyspace.reader.exists(key, options);
}

Result<std::optional<PinnedValue>> Store::get_pinned(OpenKeyspace& keyspace, std::string_view key,
                                                     const ReadOptions& options) {
  if (!may_read(options.snapshot)) [[unlikely]] {
    TAMIS_TRY(const Reader::KeptView moment, followed(keyspace, options.snapshot));
    return keyspace.reader.get_pinned(key, options, shared_from_this(), moment);
  }
  std::optional<LatencyTimer> timer;
  if (GetSampling::is_sampled()) [[unlikely]]
    timer.emplace(context_->timed.get);
  PinnedValue value;
  bool is_large = false;
  TAMIS_TRY(const bool found, keyspace.reader.get_if_small(key, value, options, is_large));
  if (!found) return std::optional<PinnedValue>();
  if (!is_large) [[likely]]
    return std::optional<PinnedValue>(std::move(value));
  const Reader::KeptView moment = keyspace.reader.begin_read(options.snapshot);
  return keyspace.reader.get_pinned(key, options, shared_from_this(), moment, true);
}

std::vector<Result<std::optional<std::string>>> Store::multi_get(OpenKeyspace& keyspace,
                                                                 std::span<const std::string_view> keys,
                                                                 const ReadOptions& options) {
  const Result<Reader::KeptView> moment = view_for(keyspace, options.snapshot);
  if (!moment.ok()) return std::vector<Result<std::optional<std::string>>>(keys.size(), moment.status());
  return keyspace.reader.multi_get(keys, options, *moment);
}

Status Store::multi_get(OpenKeyspace& keyspace, std::span<const std::string_view> keys,
                        std::vector<std::optional<std::string>>* values, const ReadOptions& options) {
  const Result<Reader::KeptView> moment = view_for(keyspace, options.snapshot);
  if (!moment.ok()) {
    values->clear();
    return moment.status();
  }
  return keyspace.reader.multi_get(keys, values, options, *moment);
}

Result<Explanation> Store::explain(OpenKeyspace& keyspace, std::string_view key, const ReadOptions& options) {
  TAMIS_TRY(const Reader::KeptView moment, view_for(keyspace, options.snapshot));
  return keyspace.reader.explain(key, options, moment);
}

Iterator Store::scan(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller) {
  const LatencyTimer timer(context_->timed.scan);
  if (!may_read(options.snapshot)) [[unlikely]] {
    Result<std::unique_ptr<IteratorState>> followed = begin_followed_scan(keyspace, options.snapshot, caller);
    if (!followed.ok()) return failed_scan(followed.status());
    (*followed)->walk_over(range_of(options), options);
    return Iterator(*std::move(followed));
  }
  std::unique_ptr<IteratorState> state = begin_scan(keyspace, options.snapshot, caller);
  state->walk_over(range_of(options), options);
  return Iterator(std::move(state));
}

Iterator Store::scan_in_transaction(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller,
                                    const TransactionLayer& layer) {
  const LatencyTimer timer(context_->timed.scan);
  if (!may_read(options.snapshot)) [[unlikely]] {
    Result<std::unique_ptr<IteratorState>> followed = begin_followed_scan(keyspace, options.snapshot, caller);
    if (!followed.ok()) return failed_scan(followed.status());
    (*followed)->walk_over(range_of(options), options, layer);
    return Iterator(*std::move(followed));
  }
  std::unique_ptr<IteratorState> state = begin_scan(keyspace, options.snapshot, caller);
  state->walk_over(range_of(options), options, layer);
  return Iterator(std::move(state));
}

/// View first, then sequence (rule 9). The view is whole, because the scan reports and uses ranges that are empty at
/// its sequence. The iterator keeps what it needs of the view, which is looked at only (rule 10).
std::unique_ptr<IteratorState> Store::begin_scan(OpenKeyspace& keyspace, const Snapshot* snapshot, Caller caller) {
  const EpochGuard guard;
  const auto [view, sequence] =
      keyspace.tree.view().peek_whole_at([&] { return keyspace.reader.sequence_for(snapshot); });
  return std::make_unique<IteratorState>(shared_from_this(), view, keyspace.reader.moment_for(snapshot, sequence),
                                         caller, keyspace);
}

Result<std::unique_ptr<IteratorState>> Store::begin_followed_scan(OpenKeyspace& keyspace, const Snapshot* snapshot,
                                                                  Caller caller) {
  TAMIS_TRY(const Reader::KeptView view, followed(keyspace, snapshot));
  const Moment moment = keyspace.reader.moment_for(snapshot, view.sequence);
  return std::make_unique<IteratorState>(shared_from_this(), *view.view, moment, caller, keyspace);
}

Iterator Store::failed_scan(Status why) {
  return Iterator(std::make_unique<IteratorState>(shared_from_this(), std::move(why)));
}

Snapshot Store::snapshot(Caller caller) {
  if (is_of_another_process()) return {};
  return Snapshot(std::make_shared<SnapshotState>(shared_from_this(), caller));
}

std::uint64_t Snapshot::sequence() const { return state_ == nullptr ? 0 : number_of(state_->sequence()); }

Status Store::compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress) {
  TAMIS_TRY_STATUS(flush());
  return maintenance_.compact(keyspace, range, progress);
}

Status Store::wait_idle() {
  TAMIS_TRY_STATUS(check_open());
  return context_->options.read_only ? Status() : maintenance_.wait_idle();
}

Result<std::shared_ptr<OpenKeyspace>> Store::keyspace(std::string_view name, const KeyspaceOptions& options) {
  TAMIS_TRY_STATUS(check_open());
  return writer_.open_keyspace(name, options);
}

Status Store::drop_keyspace(std::string_view name) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY_STATUS(writer_.drop_keyspace(name));
  keyspaces_.release_dropped();
  return {};
}

/// With several keyspaces the copy must end at one sequence for all of them, or it could hold half of a batch (rule
/// 33): so writes wait for the flush.
Status Store::checkpoint(const std::string& folder) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY(const std::string path, plain_path(folder));
  if (follower_ != nullptr) return follower_->checkpoint(path);
  if (keyspaces_.size() == 1) {
    TAMIS_TRY_STATUS(writer_.flush());
    const Checkpoint checkpoint(catalog_, keyspaces_);
    if (!checkpoint.spans_keyspaces()) return checkpoint.copy_to(*context_, path);  // Or one was made meanwhile.
  }
  TAMIS_TRY_STATUS(context_->check_writable());
  std::optional<Checkpoint> checkpoint;
  const auto flush_and_begin = [&]() -> Status {
    TAMIS_TRY_STATUS(writer_.flush_alone());
    checkpoint.emplace(catalog_, keyspaces_);
    return {};
  };
  TAMIS_TRY_STATUS(writer_.run_alone(flush_and_begin));
  return checkpoint->copy_to(*context_, path);
}

Result<VerifyReport> Store::verify(const Progress& progress) {
  TAMIS_TRY_STATUS(check_open());
  VerifyReport report{.journal_bytes = journals_.counts().bytes};
  std::vector<std::shared_ptr<const Version>> versions;
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    report.journal_entries += keyspace->tree.entries_in_memtables();
    versions.push_back(keyspace->tree.version());
  }
  TAMIS_TRY_STATUS(verify_tables(versions, progress, report));
  return report;
}

Result<std::uint64_t> Store::approximate_size(OpenKeyspace& keyspace, const Range& range) {
  TAMIS_TRY_STATUS(check_open());
  TAMIS_TRY(const Reader::KeptView moment, view_for(keyspace, nullptr));
  return moment.view->version->approximate_bytes(range.from, range.to);
}

}  // namespace tamis
