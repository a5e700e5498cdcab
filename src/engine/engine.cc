#include "engine/engine.h"

#include <fmt/core.h>

#include <utility>

#include "base/random_source.h"
#include "base/try.h"
#include "engine/fork_generation.h"
#include "engine/memory_shares.h"
#include "io/path.h"
#include "io/posix_file_system.h"

namespace tamis {
namespace {

constexpr std::size_t kMostOpenTables = 512;

}  // namespace

Result<std::shared_ptr<Engine>> Engine::open(const std::string& path, const Options& options,
                                             const Environment& environment) {
  TAMIS_TRY_STATUS(check_options(options));
  TAMIS_TRY(std::string directory, plain_path(path));
  std::shared_ptr<Engine> engine(new Engine(std::move(directory), options, environment));
  // Before there are tables, which decides how many shards it has.
  const std::uint64_t cache_bytes = tamis::share_memory(options, MetadataWanted()).blocks;
  TAMIS_TRY(engine->cache_, BlockCache::make({.capacity_bytes = cache_bytes, .policy = options.cache}));
  engine->context_.cache = engine->cache_.get();
  TAMIS_TRY_STATUS(engine->open_store());
  engine->start_background();
  return engine;
}

Engine::Engine(std::string directory, const Options& options, const Environment& environment)
    : directory_(std::move(directory)),
      options_(options),
      environment_(environment),
      files_(environment.files != nullptr ? *environment.files : posix_file_system()),
      random_(make_random_source(environment.random_seed)),
      schedule_(environment.schedule_seed && !environment.runs_in_background
                    ? std::make_unique<Schedule>(*environment.schedule_seed)
                    : nullptr),
      policy_(find_compaction_policy(options.compaction)),
      fork_generation_(fork_generation()),
      memtable_bytes_(sealing_memory(options)),
      spare_memory_(std::make_shared<SpareMemory>(kept_memory(options))),
      file_handles_(std::make_unique<FileHandles>(files_, files_to_keep_open(kMostOpenTables))),
      index_budget_(0),
      filter_budget_(0) {
  context_.directory = directory_;
  context_.handles = file_handles_.get();
  context_.index_budget = &index_budget_;
  context_.filter_budget = &filter_budget_;
}

Engine::~Engine() { stop_background(); }

Status Engine::check_open() const {
  if (is_closed_.load(std::memory_order_relaxed)) return Status::closed(directory_ + ": the store was closed");
  if (is_of_another_process()) {
    return Status::closed(directory_ + ": opened before a fork; only the process that opened it may use it");
  }
  return {};
}

/// What is in memory stays in the journal, which is marked as closed, so that the next opening continues it; unless
/// that is so much that reading it back would be felt. When writes had stopped, nothing is marked and what was not
/// synced may not be durable: the answer says why. A flush that fails only now is no such stop: on a full disk the
/// journal, which has everything, can still be closed.
Status Engine::close(bool detaches) {
  TAMIS_TRY_STATUS(check_open());
  if (!detaches && !live_handles_.empty()) {
    return Status::busy(fmt::format("{}: still in use: {}", directory_, live_handles_.to_text()));
  }
  const bool is_long_to_replay = view_.take()->active->memory_bytes() > kMostLeftInJournal;
  const bool had_stopped = write_stop().has_value();
  if (is_long_to_replay && !options_.read_only && !had_stopped) (void)flush().ok();
  stop_background();
  remove_obsolete_files();  // Some may have been held until just now.
  is_closed_ = true;
  const std::optional<WriteStop> stop = write_stop();
  Status closed = stop ? stop->why : Status();
  MutexLock tree_lock(tree_mutex_);
  const bool is_whole = !stop || (!had_stopped && !manifest_failed_ && !journals_->is_lost());
  if (!options_.read_only && is_whole) {
    Result<KnownJournalEnd> journal = journals_->close(manifest_->known_journal_end());
    closed = journal.ok() ? manifest_->close(*journal) : journal.status();
  }
  MutexLock lock(state_mutex_);
  lock_.reset();
  return closed;
}

void Engine::tell(StoreEvent::Kind kind, std::string_view what, const RewriteResult* result) {
  if (environment_.listener == nullptr) return;
  StoreEvent event{.kind = kind, .what = what};
  if (result != nullptr) {
    for (const auto& table : result->tables) {
      ++event.tables;
      event.entries += table->entries;
      event.bytes += table->file_bytes;
    }
  }
  MutexLock lock(listener_mutex_);
  environment_.listener->on_event(event);
}

}  // namespace tamis
