// The part of the write path that knows of several trees: which of them a group writes to, and which are sealed.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "engine/keyspace_options.h"
#include "engine/writer.h"
#include "entry/batch_format.h"

namespace tamis {
namespace {

/// A keyspace that is seldom written is flushed when the journals that it keeps take more than this many memtables.
constexpr std::uint64_t kMaxJournalsInMemtables = 4;

}  // namespace

void Writer::begin() {
  writing_ = keyspaces_.default_keyspace().tree.begin_writing(journals_.newest());
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    if (keyspace->id() != kDefaultKeyspace && keyspace->tree.has_unsealed()) count_bytes(writing_to(keyspace->id()));
  }
}

Writer::Writing& Writer::writing_to(KeyspaceId id) {
  const auto found = others_.find(id);
  if (found != others_.end()) return found->second;
  std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(id);
  std::shared_ptr<Memtable> memtable = keyspace->tree.begin_writing(journals_.newest());
  return others_.emplace(id, Writing{.keyspace = std::move(keyspace), .memtable = std::move(memtable)}).first->second;
}

void Writer::count_bytes(Writing& writing) {
  const std::uint64_t bytes = writing.memtable->memory_bytes();
  others_bytes_ += bytes - writing.counted_bytes;
  writing.counted_bytes = bytes;
}

/// Whether there were any. A request for a keyspace that does not exist any more fails alone.
bool Writer::reject_dropped(std::span<CommitRequest* const> group) {
  bool has_rejected = false;
  for (CommitRequest* request : group) {
    if (request->is_rejected || request->changes.empty()) continue;
    request->changes.visit_keyspaces([&](KeyspaceId id) {
      if (request->is_rejected || !is_dropped(id)) return;
      request->is_rejected = has_rejected = true;
      request->status = Status::invalid_argument(context_.directory + ": the keyspace was dropped");
    });
  }
  return has_rejected;
}

bool Writer::is_dropped(KeyspaceId id) const {
  return id != kDefaultKeyspace && !others_.contains(id) && !keyspaces_.find(id);
}

Status Writer::append_to_trees(std::uint64_t entries, bool syncs) {
  Status appended = reserve_in_trees(entries);
  if (appended.ok() && has_range_deletes_) appended = prepare_range_deletes(entries);
  if (appended.ok()) appended = append_to_journal(entries, syncs);
  if (appended.ok()) insert_into_trees(entries);
  forget_touched();
  return appended;
}

/// In each tree as if all entries were its own: that is more than needed, and simple.
Status Writer::reserve_in_trees(std::uint64_t entries) {
  KeyspaceId id = keyspaces_of_group_.first;
  bool has_default = false;
  const char* const end = payload_.data() + payload_.size();
  for (const char* at = payload_.data() + batch_header_bytes(id, entries); at != end;) {
    at = load_batch_entry(at, id).end;
    if (id == kDefaultKeyspace) {
      has_default = true;
    } else if (Writing& writing = writing_to(id); !std::exchange(writing.is_touched, true)) {
      touched_.push_back(&writing);
    }
  }
  Status reserved = has_default ? writing_->reserve(entries, payload_.size()) : Status();
  for (Writing* writing : touched_) {
    if (reserved.ok()) reserved = writing->memtable->reserve(entries, payload_.size());
  }
  return reserved;
}

/// After the group, or its failure. A tree that has got nothing is begun again by the group that writes to it, with the
/// journal of that group: the current one may be released before.
void Writer::forget_touched() {
  for (Writing* writing : touched_) {
    writing->is_touched = false;
    count_bytes(*writing);
    if (writing->memtable->empty()) stop_writing_to(writing->keyspace->id());
  }
  touched_.clear();
}

void Writer::insert_into_trees(std::uint64_t entries) {
  Sequence sequence = published_.newest();
  KeyspaceId id = keyspaces_of_group_.first;
  KeyspaceId into_id = kDefaultKeyspace;
  Memtable* into = writing_.get();
  EncodedEntry entry = {};
  const char* const end = payload_.data() + payload_.size();
  for (const char* at = payload_.data() + batch_header_bytes(id, entries); at != end;) {
    entry = load_batch_entry(at, id);
    if (id != into_id) {
      into = id == kDefaultKeyspace ? writing_.get() : others_.at(id).memtable.get();
      into_id = id;
    }
    sequence = sequence + 1;
    insert_entry(*into, {entry.key, entry.value, sequence, entry.kind}, context_.hasher);
    at = entry.end;
  }
  publish(sequence);
  if (entry.kind == EntryKind::kDelete) tell_deletes(id, entry.key, entries);
  forget_payload();
}

Writer::Trees Writer::trees_with_entries() const {
  Trees trees;
  if (!writing_->empty()) trees.push_back(keyspaces_.find(kDefaultKeyspace));
  for (const auto& [id, writing] : others_) {
    if (!writing.memtable->empty()) trees.push_back(writing.keyspace);
  }
  return trees;
}

/// The tree with the most memory and those with at least half of that: few and large tables. Also those that keep the
/// oldest journal, if the journals have become long.
Writer::Trees Writer::trees_to_seal() const {
  Trees trees = trees_with_entries();
  std::uint64_t most = 0;
  std::uint64_t oldest = kNoJournal;
  for (const std::shared_ptr<OpenKeyspace>& keyspace : trees) {
    most = std::max(most, keyspace->tree.active_bytes());
    oldest = std::min(oldest, keyspace->tree.first_journal());
  }
  const bool are_journals_long = journals_.counts().bytes > kMaxJournalsInMemtables * context_.memtable_bytes;
  std::erase_if(trees, [&](const std::shared_ptr<OpenKeyspace>& keyspace) {
    const bool keeps_oldest = are_journals_long && keyspace->tree.first_journal() == oldest;
    return !keeps_oldest && 2 * keyspace->tree.active_bytes() < most;
  });
  return trees;
}

/// These memtables get no more writes, and a new journal begins. Called with nothing sealed.
Status Writer::seal(const Trees& trees) {
  if (trees.empty()) return {};
  const Sequence last = published_.newest();
  if (keyspaces_.size() > 1) TAMIS_TRY_STATUS(journals_.sync());  // Rule 33.
  TAMIS_TRY_STATUS(begin_journal());
  was_sealed(trees, last, journals_.newest());
  return {};
}

Status Writer::begin_journal() {
  std::uint64_t number = journals_.reserved_number();  // Once: a flush may be reserving another.
  if (number <= journals_.newest()) {
    TAMIS_TRY(number, catalog_.new_number());
  }
  TAMIS_TRY_STATUS(journals_.begin(number, published_.newest() + 1));
  if (writing_->empty()) (void)keyspaces_.default_keyspace().tree.begin_writing(number);
  return {};
}

void Writer::was_sealed(const Trees& trees, Sequence last, std::uint64_t journal) {
  keyspaces_.seal(trees, last);
  for (const std::shared_ptr<OpenKeyspace>& keyspace : trees) stop_writing_to(keyspace->id());
  writing_ = keyspaces_.default_keyspace().tree.begin_writing(journal);
}

void Writer::stop_writing_to(KeyspaceId id) {
  const auto written = others_.find(id);
  if (written == others_.end()) return;
  others_bytes_ -= written->second.counted_bytes;
  others_.erase(written);
}

Status Writer::flush_alone() {
  TAMIS_TRY_STATUS(throttle_.wait_for_flush());
  TAMIS_TRY_STATUS(seal(trees_with_entries()));
  return maintenance_.flush_sealed();
}

/// Rule 37: everything before the commit is in tables, then the commit is, and one edit of the manifest makes it
/// visible and durable. No journal holds it: the next one begins after it.
Status Writer::write_large(const Changes& changes, const CommitCheck* check) {
  return run_alone([&]() -> Status {
    CommitRequest request{.changes = changes};
    CommitRequest* const group[] = {&request};
    if (check != nullptr) TAMIS_TRY_STATUS(check_transaction(*check, changes));
    if (reject_dropped(group)) return request.status;
    TAMIS_TRY_STATUS(flush_alone());
    const Sequence before = published_.newest();
    const Sequence last = before + changes.size();
    TAMIS_TRY(const std::vector<TreeChange> trees, maintenance_.write_changes(changes, before + 1));
    TAMIS_TRY(const std::uint64_t number, catalog_.new_number());
    TAMIS_TRY_STATUS(journals_.begin_after_gap(number, last + 1));
    writing_ = keyspaces_.default_keyspace().tree.begin_writing(number);
    Status installed = keyspaces_.install(trees, {.flushed_sequence = number_of(last), .first_journal = number});
    if (!installed.ok()) {
      journals_.abandon();
      return installed;
    }
    window_.record({&changes, 1}, before, last, check != nullptr ? 1 : 0);
    published_.publish(last);
    journals_.release_before(number);
    writes_.fetch_add(changes.size(), std::memory_order_relaxed);
    bytes_written_.fetch_add(changes.byte_size(), std::memory_order_relaxed);
    return {};
  });
}

Result<std::shared_ptr<OpenKeyspace>> Writer::open_keyspace(std::string_view name, const KeyspaceOptions& options) {
  std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(name);
  // Also while writes have stopped: then it can be read.
  if (keyspace != nullptr && (context_.options.read_only || keyspace_options_text(options).empty())) return keyspace;
  if (context_.options.read_only) {
    return Status::invalid_argument(fmt::format("{}: there is no keyspace '{}'", context_.directory, name));
  }
  const auto find_or_create = [&]() -> Status {
    keyspace = keyspaces_.find(name);
    if (options.default_expiry.value_or(std::chrono::milliseconds()).count() != 0) {
      TAMIS_TRY_STATUS(use(Feature::kExpiry));
    }
    if (keyspace != nullptr) return keyspaces_.change(*keyspace, options);
    TAMIS_TRY_STATUS(use(Feature::kKeyspaces));
    TAMIS_TRY(keyspace, keyspaces_.create(name, options));
    return {};
  };
  TAMIS_TRY_STATUS(run_alone(find_or_create));
  return keyspace;
}

/// The next record goes to a journal whose header names the feature (rule 36).
Status Writer::use(Feature feature) {
  const Features features = Features::of(feature);
  if (journals_.current_has(features)) return {};
  if (feature == Feature::kExpiry) context_.expiry.begin();
  TAMIS_TRY_STATUS(catalog_.commit({.features = features}, [](const ManifestState&) {}));
  journals_.use(features);
  return begin_journal();
}

/// A keyspace that was dropped is refused later.
Status Writer::prepare_merges(const Changes& changes) {
  Status prepared;
  std::optional<KeyspaceId> last;
  changes.visit([&](KeyspaceId id, const EncodedEntry& entry) {
    if (!prepared.ok() || entry.kind != EntryKind::kMerge || last == id) return;
    last = id;
    const std::shared_ptr<OpenKeyspace> other = id == kDefaultKeyspace ? nullptr : keyspaces_.find(id);
    OpenKeyspace* const keyspace = id == kDefaultKeyspace ? &keyspaces_.default_keyspace() : other.get();
    if (keyspace == nullptr || keyspace->may_merge.load(std::memory_order_acquire)) return;
    prepared = run_alone([&] { return begin_merges(*keyspace); });
  });
  return prepared;
}

/// Before the first merge into a keyspace since the store was opened (rules 32 and 36).
Status Writer::begin_merges(OpenKeyspace& keyspace) {
  if (keyspace.is_dropped()) return {};
  TAMIS_TRY_STATUS(check_has_operator(keyspace));
  TAMIS_TRY_STATUS(use(Feature::kMerges));
  TAMIS_TRY_STATUS(keyspaces_.store_operator(keyspace));
  keyspace.may_merge.store(true, std::memory_order_release);
  return {};
}

Status Writer::drop_keyspace(std::string_view name) {
  TAMIS_TRY_STATUS(context_.check_writable());
  return run_alone([&]() -> Status {
    const std::shared_ptr<OpenKeyspace> keyspace = keyspaces_.find(name);
    if (keyspace == nullptr) {
      return Status::invalid_argument(fmt::format("{}: there is no keyspace '{}'", context_.directory, name));
    }
    TAMIS_TRY_STATUS(keyspaces_.drop(*keyspace));
    stop_writing_to(keyspace->id());
    return {};
  });
}

}  // namespace tamis
