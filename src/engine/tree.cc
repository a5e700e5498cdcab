#include "engine/tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "io/file_names.h"

namespace tamis {

void Tree::open(const Shape& shape) {
  table_context_ = memory_.table_context();
  auto first = std::make_shared<const Version>(shape, nullptr, table_context_);
  memory_.share(id_, *first);
  debt_ = debt_of(shape);
  generation_ = 1;
  MutexLock lock(mutex_);
  version_ = std::move(first);
  set_level_zero_cuts(shape);
  active_ = memory_.empty_memtable();
  install_view();
}

std::shared_ptr<const TreeSettings> Tree::settings() const {
  MutexLock lock(mutex_);
  return settings_;
}

void Tree::change_settings(std::shared_ptr<const TreeSettings> settings) {
  {
    MutexLock lock(mutex_);
    settings_ = std::move(settings);
  }
  generation_.fetch_add(1, std::memory_order_release);  // Another policy may want other tables.
}

FilterPlanOptions Tree::filter_plan_options() const {
  const std::shared_ptr<const TreeSettings> now = settings();
  const Options memory = memory_.options();
  return {.kind = now->options.filter,
          .memory_bytes = memory.filter_memory,
          .most_bytes = memory.memory_bytes / 4,
          .reserve_percent = now->options.filter_reserve_percent};
}

void Tree::share_memory() {
  catalog_.inspect([&](const ManifestState&) { memory_.share(id_, *version()); });  // No newer version comes meanwhile.
}

PolicyOptions Tree::policy_options() const {
  const std::shared_ptr<const TreeSettings> now = settings();
  return {.fanout = now->options.fanout,
          .memtable_bytes = context_.memtable_bytes,
          .table_bytes = now->options.table_bytes,
          .now_unix_seconds = context_.now_unix_seconds(),
          .overwritten = overwritten_.load(std::memory_order_relaxed)};
}

bool Tree::review_scans() {
  constexpr std::uint64_t kFew = 100;
  const std::uint64_t scanned = version()->extra_runs_scanned();
  std::uint64_t reviewed = scans_reviewed_.load(std::memory_order_relaxed);
  if (scanned < reviewed) reviewed = 0;  // A flush has begun the count again.
  if (scanned < 2 * reviewed + kFew) return false;
  scans_reviewed_.store(scanned, std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  return true;
}

void Tree::found_overwritten(double fraction) {
  constexpr double kWeight = 0.25;
  const double before = overwritten_.load(std::memory_order_relaxed);
  const double weight = before == 0 ? 1 : kWeight;
  overwritten_.store(before + weight * (fraction - before), std::memory_order_relaxed);
}

std::uint64_t Tree::compaction_backlog() const {
  return settings()->policy.backlog(version()->shape(), policy_options());
}

double Tree::debt_of(const Shape& shape) const { return settings()->policy.debt(shape, policy_options()); }

std::shared_ptr<const Version> Tree::version() const {
  MutexLock lock(mutex_);
  return version_;
}

LevelZeroCuts Tree::level_zero_cuts() const {
  MutexLock lock(mutex_);
  return level_zero_cuts_;
}

void Tree::set_level_zero_cuts(const Shape& shape) {
  const bool has_parts = settings_->policy.takes_parts_of_level_zero;
  level_zero_cuts_ =
      has_parts ? cuts_for_level_zero(shape, context_.memtable_bytes, level_zero_cuts_) : LevelZeroCuts();
}

std::shared_ptr<Memtable> Tree::begin_writing(std::uint64_t journal) {
  MutexLock lock(mutex_);
  if (is_idle()) {
    active_ = std::make_shared<Memtable>(context_.memtable_bytes, memory_.spare());
    active_first_journal_ = journal;
    install_view();
  } else if (active_->empty()) {
    active_first_journal_ = journal;
  }
  return active_;
}

void Tree::seal(Sequence last) noexcept {
  MutexLock lock(mutex_);
  TAMIS_CHECK(!active_->empty());
  sealed_.insert(sealed_.begin(), {.memtable = active_, .last_sequence = last, .first_journal = active_first_journal_});
  active_ = memory_.empty_memtable();
  active_first_journal_ = kNoJournal;
  install_view();
}

std::optional<SealedMemtable> Tree::oldest_sealed() const {
  MutexLock lock(mutex_);
  if (sealed_.empty()) return std::nullopt;
  return sealed_.back();
}

bool Tree::has_sealed() const {
  MutexLock lock(mutex_);
  return !sealed_.empty();
}

bool Tree::has_unsealed() const {
  MutexLock lock(mutex_);
  return !active_->empty();
}

std::uint64_t Tree::active_bytes() const {
  MutexLock lock(mutex_);
  return is_idle() ? 0 : active_->memory_bytes();
}

/// An empty memtable needs no journal: what it gets from now on is in the newest one, or a later one.
std::uint64_t Tree::first_journal(const Memtable* flushed) const {
  MutexLock lock(mutex_);
  for (auto sealed = sealed_.rbegin(); sealed != sealed_.rend(); ++sealed) {
    if (sealed->memtable.get() != flushed) return sealed->first_journal;
  }
  return active_->empty() ? kNoJournal : active_first_journal_;
}

void Tree::show(const Shape& shape, const ShapeEdit& edit, const Memtable* flushed) {
  const std::shared_ptr<const Version> before = version();
  auto next = std::make_shared<const Version>(shape, before.get(), table_context_);
  memory_.share(id_, *next);
  const double debt = debt_of(shape);
  MutexLock lock(mutex_);
  for (const std::uint64_t number : edit.removed) {
    if (next->table(number) == nullptr) retire(*before, number);
  }
  for (const std::uint64_t number : edit.values_removed) retire_values(*before, number);
  if (flushed != nullptr) drop_flushed(flushed);
  version_ = std::move(next);
  set_level_zero_cuts(shape);
  debt_ = debt;
  generation_.fetch_add(1, std::memory_order_release);
  install_view();
}

std::shared_ptr<const ReadView> Tree::show_followed(FollowedTree next) {
  const std::shared_ptr<const Version> before = version();
  memory_.share(id_, *next.version);
  {
    MutexLock lock(mutex_);
    if (before != nullptr) {
      for (const std::shared_ptr<Table>& table : before->tables()) {
        if (next.version->table(table->facts().number) == nullptr) retire(*before, table->facts().number);
      }
      for (const std::shared_ptr<ValueFile>& file : before->value_files()) {
        const std::uint64_t number = file->facts().number;
        if (next.version->value_file(number) == nullptr) retire_values(*before, number);
      }
    }
    version_ = std::move(next.version);
    active_ = std::move(next.active);
    if (active_ == nullptr) active_ = memory_.empty_memtable();
    sealed_ = std::move(next.sealed);
    generation_.fetch_add(1, std::memory_order_release);
    install_view();
  }
  view_.drop_replaced();
  return view_.take();
}

void Tree::clear() {
  const std::shared_ptr<const Version> before = version();
  auto none = std::make_shared<const Version>(Shape(), nullptr, table_context_);
  memory_.forget(id_);
  {
    MutexLock lock(mutex_);
    for (const std::shared_ptr<Table>& table : before->tables()) retire(*before, table->facts().number);
    for (const std::shared_ptr<ValueFile>& file : before->value_files()) retire_values(*before, file->facts().number);
    version_ = std::move(none);
    active_ = memory_.empty_memtable();
    sealed_.clear();
    debt_ = 0;
    install_view();
  }
  view_.drop_replaced();
}

/// Its file goes when nobody holds it any more; its counts stay with its level.
void Tree::retire(const Version& before, std::uint64_t number) {
  const std::shared_ptr<Table> table = before.table(number);
  obsolete_.push_back({.number = number, .blocks = table->facts().cached_blocks(), .table = table});
  const std::uint32_t level = before.shape().find_table(number)->level;
  if (retired_counts_.size() <= level) retired_counts_.resize(level + 1);
  retired_counts_[level] += table->counts();
}

void Tree::retire_values(const Version& before, std::uint64_t number) {
  obsolete_values_.push_back({.number = number, .file = before.value_file(number)});
}

void Tree::drop_flushed(const Memtable* flushed) {
  TAMIS_CHECK(sealed_.back().memtable.get() == flushed);
  std::erase_if(flushed_, [](const std::weak_ptr<const Memtable>& memtable) { return memtable.expired(); });
  flushed_.emplace_back(sealed_.back().memtable);
  sealed_.pop_back();
}

void Tree::install_columns(const RunColumns& columns) {
  catalog_.inspect([&](const ManifestState&) {  // No edit comes between the two versions.
    const std::shared_ptr<const Version> before = version();
    auto next = std::make_shared<const Version>(before->shape(), before.get(), table_context_, columns);
    memory_.share(id_, *next);
    MutexLock lock(mutex_);
    version_ = std::move(next);
    install_view();
  });
  view_.drop_replaced();
}

void Tree::install_view() {
  auto view = std::make_shared<ReadView>();
  view->active = active_;
  view->version = version_;
  view->older_have_range_deletes = version_->range_deletes() != nullptr;
  for (const SealedMemtable& sealed : sealed_) {
    view->sealed.push_back(sealed.memtable);
    view->older_have_range_deletes |= sealed.memtable->has_range_deletes();
  }
  view_.replace(std::move(view));
}

/// Whoever pauses deletions reads the manifest afterwards. A table that it then finds there becomes obsolete after the
/// pause began: not while the mutex is held.
void Tree::remove_obsolete_files() {
  std::vector<Obsolete> unheld;
  std::vector<ObsoleteValues> unheld_values;
  {
    MutexLock lock(mutex_);
    if (deletions_paused_.load() > 0) return;
    std::erase_if(obsolete_, [&](const Obsolete& obsolete) {
      if (!obsolete.table.expired() || obsolete.listings > 0) return false;
      unheld.push_back(obsolete);
      return true;
    });
    std::erase_if(obsolete_values_, [&](const ObsoleteValues& obsolete) {
      if (!obsolete.file.expired()) return false;
      unheld_values.push_back(obsolete);
      return true;
    });
  }
  for (const Obsolete& table : unheld) {
    memory_.handles().close(table.number);
    memory_.cache().erase_table(table.number, table.blocks);
    if (!context_.options.read_only) {
      (void)context_.files.remove(table_path(context_.directory, table.number)).ok();
    }
  }
  for (const ObsoleteValues& values : unheld_values) {
    memory_.handles().close(values.number);
    if (!context_.options.read_only) {
      (void)context_.files.remove(value_file_path(context_.directory, values.number)).ok();
    }
  }
}

bool Tree::has_obsolete_files() const {
  MutexLock lock(mutex_);
  return !obsolete_.empty() || !obsolete_values_.empty();
}

std::vector<std::uint64_t> Tree::begin_listing() {
  std::vector<std::uint64_t> numbers;
  MutexLock lock(mutex_);
  for (Obsolete& obsolete : obsolete_) {
    ++obsolete.listings;
    numbers.push_back(obsolete.number);
  }
  return numbers;
}

void Tree::end_listing(const std::vector<std::uint64_t>& numbers) {
  MutexLock lock(mutex_);
  for (Obsolete& obsolete : obsolete_) {
    if (std::ranges::find(numbers, obsolete.number) != numbers.end()) --obsolete.listings;
  }
}

std::uint64_t Tree::entries_in_memtables() const {
  const std::shared_ptr<const ReadView> view = view_.take();
  std::uint64_t entries = view->active->entries();
  for (const std::shared_ptr<Memtable>& sealed : view->sealed) entries += sealed->entries();
  return entries;
}

std::uint64_t Tree::memtable_bytes() const {
  std::vector<std::shared_ptr<const Memtable>> memtables;
  {
    MutexLock lock(mutex_);
    if (!is_idle()) memtables.push_back(active_);
    for (const SealedMemtable& sealed : sealed_) memtables.push_back(sealed.memtable);
    for (const std::weak_ptr<const Memtable>& flushed : flushed_) {
      if (auto held = flushed.lock()) memtables.push_back(std::move(held));
    }
  }
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<const Memtable>& memtable : memtables) bytes += memtable->memory_bytes();
  return bytes;
}

std::vector<TableCounts> Tree::retired_counts() const {
  MutexLock lock(mutex_);
  return retired_counts_;
}

}  // namespace tamis
