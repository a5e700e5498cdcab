#include "engine/keyspaces.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "compaction/value_plan.h"
#include "engine/keyspace_options.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxNameBytes = 255;

Status check_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    return Status::invalid_argument(fmt::format("a keyspace's name has 1 to {} bytes", kMaxNameBytes));
  }
  return {};
}

}  // namespace

Keyspaces::Keyspaces(const StoreContext& context, StoreMemory& memory, Catalog& catalog, const Health& health,
                     const PublishedSequence& published, LiveHandles& handles, ChangeSignal& changes)
    : parts_({context, memory, catalog, deletions_paused_}),
      catalog_(catalog),
      health_(health),
      published_(published),
      handles_(handles),
      changes_(changes),
      default_(parts_, health, published, kDefaultKeyspace, std::string(kDefaultKeyspaceName), settings_for({})) {}

std::shared_ptr<const TreeSettings> Keyspaces::settings_for(const KeyspaceOptions& own) const {
  const Options options = options_for(parts_.context.options, own);
  if (options.default_expiry.count() != 0) parts_.context.expiry.add_default();
  return std::make_shared<const TreeSettings>(options);
}

std::shared_ptr<OpenKeyspace> Keyspaces::make(KeyspaceId id, std::string_view name,
                                              const KeyspaceOptions& options) const {
  return std::make_shared<OpenKeyspace>(parts_, health_, published_, id, std::string(name), settings_for(options));
}

Status Keyspaces::open() {
  Status opened;
  catalog_.inspect([&](const ManifestState& state) {
    for (const auto& [id, keyspace] : state.keyspaces) {
      Result<std::shared_ptr<OpenKeyspace>> added = make_stored(id, keyspace);
      opened = added.status();
      if (!opened.ok()) return;
      (*added)->tree.open(keyspace.shape);
      add(*std::move(added));
    }
  });
  sum_up();
  return opened;
}

Result<std::shared_ptr<OpenKeyspace>> Keyspaces::make_stored(KeyspaceId id, const KeyspaceState& state) {
  const auto named = [&](const Status& why) {
    const std::string_view name = id == kDefaultKeyspace ? kDefaultKeyspaceName : std::string_view(state.name);
    return Status(why.code(), fmt::format("{}: keyspace '{}': {}", parts_.context.directory, name, why.message()));
  };
  const Result<KeyspaceOptions> own = parse_keyspace_options(state.options);
  if (!own.ok()) return named(own.status());
  std::shared_ptr<OpenKeyspace> keyspace = id == kDefaultKeyspace
                                               ? std::shared_ptr<OpenKeyspace>(std::shared_ptr<void>(), &default_)
                                               : make(id, state.name, *own);
  if (const Status taken = take_operator(*keyspace, *own); !taken.ok()) return named(taken);
  return keyspace;
}

Status Keyspaces::take_operator(OpenKeyspace& keyspace, const KeyspaceOptions& stored) {
  const std::string& given = parts_.context.options.merge_operator;
  std::string name = stored.merge_operator.value_or(given);
  if (&keyspace == &default_ && name != given && !given.empty()) {
    return Status::invalid_argument(
        fmt::format("it has the merge operator '{}', which cannot become '{}'", name, given));
  }
  keyspace.merge_operator.store(parts_.context.operators.find(name), std::memory_order_release);
  return {};
}

Result<KeyspaceOptions> Keyspaces::stored_options(const OpenKeyspace& keyspace) const {
  std::string text;
  catalog_.inspect([&](const ManifestState& state) { text = state.keyspaces.at(keyspace.id()).options; });
  return parse_keyspace_options(text);
}

Status Keyspaces::store_operator(OpenKeyspace& keyspace) {
  TAMIS_TRY(KeyspaceOptions options, stored_options(keyspace));
  if (!options.merge_operator.value_or("").empty()) return {};
  options.merge_operator = keyspace.merge_operator.load(std::memory_order_acquire)->name;
  ManifestEdit edit;
  edit.keyspaces[keyspace.id()].options = keyspace_options_text(options);
  return catalog_.commit(edit, [](const ManifestState&) {});
}

void Keyspaces::drop_followed(OpenKeyspace& keyspace) {
  hide(keyspace);
  sum_up();
}

void Keyspaces::add(std::shared_ptr<OpenKeyspace> keyspace) {
  MutexLock lock(mutex_);
  by_name_.emplace(keyspace->name, keyspace);
  by_id_.emplace(keyspace->id(), std::move(keyspace));
  size_ = by_id_.size();
}

std::shared_ptr<OpenKeyspace> Keyspaces::find(KeyspaceId id) const {
  MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::shared_ptr<OpenKeyspace> Keyspaces::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<OpenKeyspace>> Keyspaces::all() const {
  std::vector<std::shared_ptr<OpenKeyspace>> keyspaces;
  MutexLock lock(mutex_);
  keyspaces.reserve(by_id_.size());
  for (const auto& [id, keyspace] : by_id_) keyspaces.push_back(keyspace);
  return keyspaces;
}

/// The id is taken from the manifest, which never gives one out twice (rule 35).
Result<std::shared_ptr<OpenKeyspace>> Keyspaces::create(std::string_view name, const KeyspaceOptions& options) {
  TAMIS_TRY_STATUS(check_name(name));
  TAMIS_TRY_STATUS(check_keyspace_options(options));
  KeyspaceId id = {};
  catalog_.inspect([&](const ManifestState& state) { id = KeyspaceId{state.next_keyspace}; });
  std::shared_ptr<OpenKeyspace> created = make(id, name, options);
  TAMIS_TRY_STATUS(take_operator(*created, options));
  ManifestEdit edit;
  edit.keyspaces[id].created = NewKeyspace{std::string(name), keyspace_options_text(options)};
  TAMIS_TRY_STATUS(
      catalog_.commit(edit, [&](const ManifestState& state) { created->tree.open(state.keyspaces.at(id).shape); }));
  add(created);
  return created;
}

Status Keyspaces::drop(OpenKeyspace& keyspace) {
  if (&keyspace == &default_) return Status::invalid_argument("the default keyspace cannot be dropped");
  TAMIS_TRY_STATUS(catalog_.commit({.dropped = {keyspace.id()}}, [&](const ManifestState&) { hide(keyspace); }));
  sum_up();
  changes_.announce();
  return {};
}

void Keyspaces::hide(OpenKeyspace& keyspace) {
  keyspace.drop_number.store(handles_.count_drop(), std::memory_order_release);
  MutexLock lock(mutex_);
  const auto found = by_id_.find(keyspace.id());
  TAMIS_CHECK(found != by_id_.end());
  dropped_.push_back(found->second);
  by_name_.erase(keyspace.name);
  by_id_.erase(found);
  size_ = by_id_.size();
  std::erase(sealed_, dropped_.back());
  sealed_count_ = sealed_.size();
}

Status Keyspaces::change(OpenKeyspace& keyspace, const KeyspaceOptions& options) {
  TAMIS_TRY(const KeyspaceOptions before, stored_options(keyspace));
  const KeyspaceOptions after = with_options(before, options);
  const std::string after_text = keyspace_options_text(after);
  if (after_text == keyspace_options_text(before)) return {};
  const std::string operator_before = before.merge_operator.value_or("");
  if (!operator_before.empty() && after.merge_operator != operator_before) {  // Rule 32.
    return Status::invalid_argument(fmt::format("the keyspace '{}' has the merge operator '{}', which cannot change",
                                                keyspace.name, operator_before));
  }
  if (&keyspace == &default_) {
    return Status::invalid_argument("the default keyspace has the options that the store is opened with");
  }
  TAMIS_TRY_STATUS(check_keyspace_options(after));
  ManifestEdit edit;
  edit.keyspaces[keyspace.id()].options = after_text;
  TAMIS_TRY_STATUS(catalog_.commit(edit, [](const ManifestState&) {}));
  TAMIS_TRY_STATUS(take_operator(keyspace, after));
  keyspace.tree.change_settings(settings_for(after));
  generation_.fetch_add(1, std::memory_order_release);
  return {};
}

void Keyspaces::release_dropped() {
  std::vector<std::shared_ptr<OpenKeyspace>> unseen;
  {
    MutexLock lock(mutex_);
    if (dropped_.empty()) return;
    const std::optional<std::uint64_t> drops = handles_.drops_before_snapshots();
    for (const std::shared_ptr<OpenKeyspace>& keyspace : dropped_) {
      if (!drops || !keyspace->is_visible_after(*drops)) unseen.push_back(keyspace);
    }
  }
  for (const std::shared_ptr<OpenKeyspace>& keyspace : unseen) {
    keyspace->tree.clear();
    keyspace->tree.remove_obsolete_files();
    if (keyspace->tree.has_obsolete_files()) continue;  // An iterator holds them.
    MutexLock lock(mutex_);
    if (std::erase(dropped_, keyspace) > 0) released_reads_ += keyspace->reader.counts();
  }
}

ReadCounts Keyspaces::reads_of_dropped() const {
  MutexLock lock(mutex_);
  ReadCounts counts = released_reads_;
  for (const std::shared_ptr<OpenKeyspace>& keyspace : dropped_) counts += keyspace->reader.counts();
  return counts;
}

void Keyspaces::seal(std::span<const std::shared_ptr<OpenKeyspace>> keyspaces, Sequence last) {
  {
    MutexLock lock(mutex_);  // A flush finds all of them or none.
    for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces) {
      keyspace->tree.seal(last);
      sealed_.push_back(keyspace);
    }
    sealed_count_ = sealed_.size();
  }
  changes_.announce();
}

std::vector<SealedOfTree> Keyspaces::oldest_sealed() const {
  std::vector<SealedOfTree> group;
  MutexLock lock(mutex_);
  for (const std::shared_ptr<OpenKeyspace>& keyspace : sealed_) {
    const std::optional<SealedMemtable> sealed = keyspace->tree.oldest_sealed();
    const bool is_second = std::ranges::find(group, keyspace, &SealedOfTree::keyspace) != group.end();
    if (!sealed || is_second) break;
    if (!group.empty() && sealed->last_sequence != group.front().sealed.last_sequence) break;
    group.push_back({keyspace, *sealed});
  }
  return group;
}

std::uint64_t Keyspaces::active_bytes() const {
  std::uint64_t bytes = 0;
  MutexLock lock(mutex_);
  for (const auto& [id, keyspace] : by_id_) bytes += keyspace->tree.active_bytes();
  return bytes;
}

std::uint64_t Keyspaces::first_journal(std::span<const SealedOfTree> flushes) const {
  std::uint64_t first = kNoJournal;
  MutexLock lock(mutex_);
  for (const auto& [id, keyspace] : by_id_) {
    const auto flush = std::ranges::find(flushes, keyspace, &SealedOfTree::keyspace);
    first =
        std::min(first, keyspace->tree.first_journal(flush == flushes.end() ? nullptr : flush->sealed.memtable.get()));
  }
  return first;
}

Status Keyspaces::install(std::span<const TreeChange> changes, ManifestEdit rest) noexcept {
  for (const TreeChange& change : changes) rest.keyspaces.emplace(change.keyspace->id(), change.edit);
  // Of two compactions that end at once, the second knows what the first has left.
  const auto find_unused_values = [&](const ManifestState& state) {
    for (auto& [id, edit] : rest.keyspaces) {
      if (edit.shape.removed.empty()) continue;
      edit.shape.values_removed = unused_values(state.keyspaces.at(id).shape, edit.shape);
    }
  };
  const auto show = [&](const ManifestState& state) {
    for (const TreeChange& change : changes) {
      const KeyspaceId id = change.keyspace->id();
      change.keyspace->tree.show(state.keyspaces.at(id).shape, rest.keyspaces.at(id).shape, change.flushed);
      if (change.flushed != nullptr) was_flushed(*change.keyspace);
    }
    sum_up();
  };
  TAMIS_TRY_STATUS(catalog_.commit(rest, show, find_unused_values));
  changes_.announce();
  for (const TreeChange& change : changes) change.keyspace->tree.drop_replaced_views();
  return {};
}

void Keyspaces::was_flushed(const OpenKeyspace& keyspace) {
  MutexLock lock(mutex_);
  const auto flushed = std::ranges::find(sealed_, &keyspace, [](const auto& waiting) { return waiting.get(); });
  TAMIS_CHECK(flushed != sealed_.end());
  sealed_.erase(flushed);
  sealed_count_ = sealed_.size();
}

void Keyspaces::sum_up() {
  double debt = 0;
  {
    MutexLock lock(mutex_);
    for (const auto& [id, keyspace] : by_id_) debt = std::max(debt, keyspace->tree.debt());
  }
  debt_ = debt;
  generation_.fetch_add(1, std::memory_order_release);
}

bool Keyspaces::review_scans() {
  bool is_scanned = false;
  for (const std::shared_ptr<OpenKeyspace>& keyspace : all()) is_scanned |= keyspace->tree.review_scans();
  if (is_scanned) generation_.fetch_add(1, std::memory_order_release);
  return is_scanned;
}

void Keyspaces::remove_obsolete_files() {
  for (const std::shared_ptr<OpenKeyspace>& keyspace : all()) keyspace->tree.remove_obsolete_files();
}

}  // namespace tamis
