#include "engine/follower.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/features.h"
#include "base/try.h"
#include "engine/store_files.h"
#include "io/file_names.h"

namespace tamis {
namespace {

/// Each time the writer has changed CURRENT meanwhile, or a file is missing. Tables that were opened stay open, so the
/// next attempt needs less time.
constexpr int kMaxAttempts = 100;

bool has_same_tables(const Shape& a, const Shape& b) {
  const auto same_table = [](const auto& x, const auto& y) { return x->number == y->number; };
  const auto same_run = [&](const Run& x, const Run& y) {
    return x.id == y.id && std::ranges::equal(x.tables, y.tables, same_table);
  };
  const auto same_level = [&](const auto& x, const auto& y) { return std::ranges::equal(x, y, same_run); };
  return a.value_files == b.value_files && std::ranges::equal(a.levels, b.levels, same_level);
}

/// kStale instead of the error if the file does not exist (rule 43).
Status stale_if_missing(FileSystem& files, const std::string& path, Status error) {
  if (error.ok() || error.code() != StatusCode::kIoError) return error;
  const Result<std::optional<std::uint64_t>> size = files.file_size(path);
  return size.ok() && !*size ? Status::stale(path + ": missing") : error;
}

}  // namespace

Follower::Follower(StoreContext& context, StoreMemory& memory, TableContext& tables, Catalog& catalog,
                   Keyspaces& keyspaces, Journals& journals, PublishedSequence& published)
    : context_(context),
      memory_(memory),
      table_context_(tables),
      catalog_(catalog),
      keyspaces_(keyspaces),
      journals_(journals),
      published_(published) {}

Follower::~Follower() = default;

FollowedMoment Follower::now() const {
  MutexLock lock(moment_mutex_);
  return moment_;
}

Status Follower::open() {
  MutexLock lock(mutex_);
  return move_on();
}

Result<std::uint64_t> Follower::catch_up() {
  MutexLock lock(mutex_);
  TAMIS_TRY_STATUS(move_on());
  return number_of(now().sequence);
}

Status Follower::move_on() {
  return attempt([this](const Current& current) REQUIRES(mutex_) {
    Status done = try_once(current);
    if (!done.ok()) {
      begins_anew_ = true;
      manifest_.reset();
    }
    return done;
  });
}

/// An error while CURRENT changes says nothing: the writer may have removed or recycled what was read. While CURRENT
/// stays, it is what it says.
Status Follower::attempt(const std::function<Status(const Current&)>& once) {
  Status done;
  for (int attempts = 0; attempts < kMaxAttempts; ++attempts) {
    const Result<Current> current = read_current(context_.files, context_.directory);
    if (!current.ok()) {
      return stale_if_missing(context_.files, current_path(context_.directory), current.status());
    }
    done = once(*current);
    if (done.ok()) return done;
    if (done.code() == StatusCode::kStale) continue;
    const Result<Current> after = read_current(context_.files, context_.directory);
    if (after.ok() && *after == *current) return done;
  }
  return done.code() == StatusCode::kStale
             ? done
             : Status::stale(fmt::format("{}: the store changed {} times while it was read; at last: {}",
                                         context_.directory, kMaxAttempts, done.message()));
}

Status Follower::try_once(const Current& current) {
  const bool is_another_term = current.term != current_.term;
  return begins_anew_ || is_another_term ? begin_anew(current) : advance(current);
}

/// Everything is read again but the tables that are open.
Status Follower::begin_anew(const Current& current) {
  TAMIS_TRY(ManifestState state, read_manifest(current));
  if (now().views == nullptr) {
    context_.identity = state.identity;
    context_.hasher = KeyHasher(state.identity.hash_key);
    table_context_ = memory_.table_context();
  } else if (state.identity.store_id != context_.identity.store_id) {
    return Status::stale(context_.directory + ": another store is in this folder now; open it anew");
  }
  TAMIS_TRY(JournalTail tail, open_journals(state, current.journal_end));
  // A recovery or a restart of writes is under way: the journal that begins the term says what was committed before.
  if (view_ != nullptr && tail.newest_term() < current.term) return {};
  auto view = std::make_unique<FollowedView>(std::move(tail));
  TAMIS_TRY_STATUS(view->take(std::move(state), keyspaces_));
  TAMIS_TRY_STATUS(open_tables(*view));
  TAMIS_TRY(const std::uint64_t records, read_on(*view, into_memtables(*view)));
  (void)records;
  TAMIS_TRY_STATUS(view->tail.check_known_end());
  TAMIS_TRY_STATUS(check_still(*view, current));
  view_ = std::move(view);
  show(current);
  return {};
}

/// Reads what is new. Memtables are appended to beyond the sequence that is shown.
Status Follower::advance(const Current& current) {
  FollowedView& view = *view_;
  const bool has_new_manifest = current != current_;
  if (has_new_manifest) {
    TAMIS_TRY(ManifestState state, read_manifest(current));
    TAMIS_TRY_STATUS(view.take(std::move(state), keyspaces_));
    TAMIS_TRY_STATUS(open_tables(view));
  }
  TAMIS_TRY(const std::uint64_t records, read_on(view, into_memtables(view)));
  if (records == 0 && !has_new_manifest) return view.tail.check_unchanged();
  if (has_new_manifest) {
    if (view.tail.next_sequence() <= newest_flushed_sequence_of(view.state)) {
      return Status::stale(context_.directory + ": the tables are ahead of the journals");
    }
    TAMIS_TRY_STATUS(view.forget_flushed());
  }
  TAMIS_TRY_STATUS(check_still(view, current));
  show(current);
  return {};
}

Result<ManifestState> Follower::read_manifest(const Current& current) {
  if (!manifest_ || !manifest_->is_of(current)) {
    TAMIS_TRY(manifest_, ManifestReader::open(context_.files, context_.directory, current));
  }
  TAMIS_TRY_STATUS(manifest_->read_durable(current));
  return manifest_->state(current);
}

Result<JournalTail> Follower::open_journals(const ManifestState& state, const KnownJournalEnd& known) const {
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context_.files, context_.directory));
  JournalStreamSpec spec{.store_id = context_.identity.store_id,
                         .first_sequence = state.flushed_sequence + 1,
                         .last_term = state.term,
                         .known = {known.number, known.salt, known.durable_bytes}};
  for (const std::uint64_t number : found.journals) {
    if (number >= state.first_journal) spec.numbers.push_back(number);
  }
  const bool lacks_first =
      state.first_journal != 0 && (spec.numbers.empty() || spec.numbers.front() != state.first_journal);
  const bool lacks_known = known.number != 0 && known.number >= state.first_journal &&
                           !std::ranges::binary_search(spec.numbers, known.number);
  if (lacks_first || lacks_known) {
    return Status::stale(journal_path(context_.directory, lacks_first ? state.first_journal : known.number) +
                         ": missing");
  }
  for (const std::uint64_t number : spec.numbers) spec.paths.push_back(journal_path(context_.directory, number));
  Result<JournalTail> tail = JournalTail::open(context_.files, spec);
  if (tail.ok()) return tail;
  for (const std::string& path : spec.paths) {
    Status status = stale_if_missing(context_.files, path, tail.status());
    if (status.code() == StatusCode::kStale) return status;
  }
  return tail;
}

/// Whether there were any.
Result<bool> Follower::add_new_journals(FollowedView& view) {
  TAMIS_TRY(const StoreFiles found, StoreFiles::list(context_.files, context_.directory));
  bool has_new = false;
  for (const std::uint64_t number : found.journals) {
    if (number <= view.tail.newest_journal() || number < view.state.first_journal) continue;
    const std::string path = journal_path(context_.directory, number);
    TAMIS_TRY_STATUS(
        stale_if_missing(context_.files, path, view.tail.add(context_.files, path, number, view.state.term)));
    has_new = true;
  }
  return has_new;
}

/// The tables of an attempt that fails are kept for the next one.
Status Follower::open_tables(FollowedView& view) {
  for (auto& [id, followed] : view.trees) {
    const Shape& shape = view.state.keyspaces.at(id).shape;
    std::shared_ptr<const Version>& newest = newest_versions_[id];
    if (newest == nullptr || !has_same_tables(newest->shape(), shape)) {
      newest = std::make_shared<const Version>(shape, newest.get(), table_context_);
    }
    for (const std::shared_ptr<Table>& table : newest->tables()) {
      TAMIS_TRY_STATUS(stale_if_missing(context_.files, table->path(), table->hold_file()));
    }
    for (const std::shared_ptr<ValueFile>& file : newest->value_files()) {
      TAMIS_TRY_STATUS(stale_if_missing(context_.files, file->path(), file->hold_file()));
    }
    if (followed.version == newest) continue;
    followed.version = newest;
    followed.is_changed = true;
  }
  std::erase_if(newest_versions_, [&](const auto& version) { return !view.trees.contains(version.first); });
  return {};
}

/// How many records were new.
Result<std::uint64_t> Follower::read_on(FollowedView& view, const TakeRecord& take) {
  std::uint64_t records = 0;
  for (bool has_new_journals = true; has_new_journals;) {
    while (true) {
      TAMIS_TRY(const std::optional<JournalRecord> record, view.tail.next());
      if (!record) break;
      TAMIS_TRY_STATUS(take(*record));
      ++records;
    }
    TAMIS_TRY(has_new_journals, add_new_journals(view));
  }
  return records;
}

/// A keyspace that the manifest does not know was created since it was read (rule 35).
Status Follower::take_record(FollowedView& view, const JournalRecord& record) {
  if (view.tail.journal() != view.journal) view.begin_journal();
  TAMIS_TRY(const BatchView batch,
            BatchView::decode(record.payload, Sequence{record.first_sequence}, context_.directory));
  const auto target_of = [&](KeyspaceId id) -> Result<ReplayTarget> {
    const auto found = view.trees.find(id);
    if (found != view.trees.end()) {
      FollowedView::Followed& followed = found->second;
      if (record.first_sequence + record.count - 1 <= followed.flushed_sequence) return ReplayTarget();
      return ReplayTarget{followed.begin(record, context_.memtable_bytes, memory_.spare()), followed.flushed_sequence};
    }
    if (number_of(id) < view.state.next_keyspace) return ReplayTarget();
    return Status::stale(fmt::format("{}: a journal has an entry of keyspace {}, which the manifest does not name",
                                     context_.directory, number_of(id)));
  };
  return replay_batch(batch, record.payload.size(), context_.hasher, target_of);
}

/// Rule 42: what was read counts if it is still that of the same term.
Status Follower::check_still(FollowedView& view, const Current& current) const {
  TAMIS_TRY_STATUS(view.tail.check_unchanged());
  const Result<Current> after = read_current(context_.files, context_.directory);
  if (!after.ok()) return stale_if_missing(context_.files, current_path(context_.directory), after.status());
  if (after->term == current.term && after->manifest_number == current.manifest_number &&
      after->manifest_salt == current.manifest_salt) {
    return {};
  }
  return Status::stale(context_.directory + ": CURRENT was replaced while the store was read");
}

std::shared_ptr<const FollowedMoment::Views> Follower::show_trees(FollowedView& view,
                                                                  const FollowedMoment::Views* before) {
  auto views = std::make_shared<FollowedMoment::Views>();
  for (auto& [id, followed] : view.trees) {
    const auto shown = before == nullptr ? FollowedMoment::Views::const_iterator() : before->find(id);
    const bool is_shown = before != nullptr && shown != before->end();
    if (!std::exchange(followed.is_changed, false) && is_shown) {
      views->emplace_hint(views->end(), id, shown->second);
    } else {
      views->emplace_hint(views->end(), id, followed.keyspace->tree.show_followed(followed.to_show()));
    }
  }
  return views;
}

/// Nothing can fail here. Readers see all of it from the one assignment on.
void Follower::show(const Current& current) {
  FollowedView& view = *view_;
  const FollowedMoment before = now();
  const auto is_changed = [](const auto& tree) { return tree.second.is_changed; };
  std::shared_ptr<const FollowedMoment::Views> views = before.views;
  if (views == nullptr || views->size() != view.trees.size() || std::ranges::any_of(view.trees, is_changed)) {
    views = show_trees(view, views.get());
  }
  const Sequence sequence{std::max(view.tail.next_sequence() - 1, newest_flushed_sequence_of(view.state))};
  if (current != current_ || before.views == nullptr) catalog_.follow(view.state, current);
  if (view.state.features.includes(Features::of(Feature::kExpiry))) context_.expiry.open(view.state.horizon);
  {
    MutexLock lock(moment_mutex_);
    moment_.sequence = sequence;
    moment_.views = std::move(views);
  }
  published_.publish(sequence);
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    if (!view.trees.contains(keyspace->id())) keyspaces_.drop_followed(*keyspace);
  }
  for (auto& [id, followed] : view.trees) {
    if (std::exchange(followed.is_new, false)) keyspaces_.add_followed(followed.keyspace);
  }
  current_ = current;
  begins_anew_ = false;
  view.tail.release_before(view.state.first_journal);
  journals_.only_show(view.tail.journals(), view.tail.bytes());
  keyspaces_.remove_obsolete_files();
  keyspaces_.release_dropped();
}

}  // namespace tamis
