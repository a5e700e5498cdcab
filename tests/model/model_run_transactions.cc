// Transactions beside all other operations.
#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"
#include "model/model_run.h"

namespace tamis::test {
namespace {

/// The smallest store keeps 5 KiB of recent commits. Beyond this, a transaction may be older than these.
constexpr std::size_t kMaxBytesSinceBegin = 2500;
constexpr std::size_t kMaxBytesOfAWrite = 200;

bool is_inside(std::string_view key, const Bounds& bounds) {
  return key.starts_with(bounds.prefix) && (!bounds.from || key >= *bounds.from) && (!bounds.to || key < *bounds.to);
}

}  // namespace

/// The number of the keyspace that the transaction means: the default one if it does not see it.
std::uint32_t ModelTransaction::existing(std::uint32_t keyspace) const { return view.at(keyspace).id ? keyspace : 0; }

bool ModelTransaction::has_written(std::uint32_t keyspace, std::string_view key) const {
  return std::any_of(own.begin(), own.end(),
                     [&](const Change& change) { return change.keyspace == keyspace && change.changes(key); });
}

bool ModelTransaction::knows(std::uint32_t keyspace, std::string_view key) const {
  return std::any_of(own.begin(), own.end(), [&](const Change& change) {
    return change.keyspace == keyspace && change.changes(key) && !change.is_merge;
  });
}

/// A point read or, at snapshot isolation, a write of a key that was written since is a conflict for certain. Inside of
/// a scan only the first key is certain: how far the rest was read depends on tombstones.
ModelTransaction::Outcome ModelTransaction::outcome(const Model& model) const {
  if (own.empty()) return Outcome::kCommits;
  const auto exists = [&](std::uint32_t id) {
    return std::any_of(model.now().begin(), model.now().end(), [&](const auto& keyspace) { return keyspace.id == id; });
  };
  bool is_certain = true;
  for (const Change& change : own) {
    if (!exists(*view.at(change.keyspace).id)) return Outcome::kConflicts;
  }
  for (const auto& [id, key] : reads) {
    if (!exists(id)) return Outcome::kConflicts;
  }
  for (const auto& [id, bounds] : scans) is_certain &= exists(id);
  std::size_t bytes = 0;
  for (std::size_t i = begun; i < model.log().size(); ++i) {
    const auto& [id, other] = model.log()[i];
    bytes += other.key.size() + other.to.value_or("").size() + kMaxBytesOfAWrite;
    for (const auto& [read_id, key] : reads) {
      if (read_id == id && other.changes(key)) return Outcome::kConflicts;
    }
    for (const auto& [scanned, bounds] : scans) {
      is_certain &= scanned != id || !(other.is_range || is_inside(other.key, bounds));
    }
    if (isolation != Isolation::kSnapshot) continue;
    for (const Change& change : own) {
      if (change.is_merge && other.is_merge) continue;
      if (view.at(change.keyspace).id == id && change.meets(other)) return Outcome::kConflicts;
    }
  }
  return is_certain && bytes <= kMaxBytesSinceBegin ? Outcome::kCommits : Outcome::kEither;
}

Status ModelRun::run_in_transaction(const Operation& operation) {
  std::optional<ModelTransaction>& slot = transactions_.at(*operation.slot % transactions_.size());
  if (operation.verb == Verb::kBegin) {
    slot.emplace();
    slot->isolation = *operation.slot % 2 == 0 ? Isolation::kSerializable : Isolation::kSnapshot;
    slot->store = db_->begin({.isolation = slot->isolation});
    slot->view = slot->first = model_.now();
    slot->begun = model_.log().size();
    if (slot->store.sequence() == model_.sequence()) return {};
    return disagreement(fmt::format("a transaction at {}, not {}", slot->store.sequence(), model_.sequence()));
  }
  if (!slot) return {};
  switch (operation.verb) {
    case Verb::kGetIn: return get_in(*slot, operation);
    case Verb::kScanIn: return scan_in(*slot, operation);
    case Verb::kWriteIn: return write_in(*slot, operation);
    case Verb::kSavepoint: {
      TAMIS_TRY(const Savepoint made, slot->store.savepoint());
      slot->saved.push_back({made, slot->view, slot->own.size()});
      return {};
    }
    case Verb::kRollbackTo:
      if (slot->saved.empty()) return {};
      slot->view = slot->saved.back().view;
      slot->own.resize(slot->saved.back().writes);
      return slot->store.rollback_to(slot->saved.back().savepoint);
    case Verb::kCommit: return commit(slot, operation);
    default: {
      Status ended = slot->store.rollback();
      slot.reset();
      return ended;
    }
  }
}

Status ModelRun::get_in(ModelTransaction& tx, const Operation& operation) {
  const std::uint32_t keyspace = tx.existing(operation.keyspace);
  const std::uint32_t id = *tx.view.at(keyspace).id;
  const std::string& key = operation.keys.front();
  const Result<bool> found = id == 0 ? tx.store.get(key, &buffer_) : tx.store.get(handles_.at(id), key, &buffer_);
  TAMIS_TRY_STATUS(found.status());
  const Model::Map& map = tx.view.at(keyspace).map;
  const auto expected = map.find(key);
  note(*found ? buffer_ : "absent");
  const bool is_right = *found == (expected != map.end()) && (!*found || *expected->second == buffer_);
  if (!is_right) return disagreement("a get in a transaction");
  if (tx.knows(keyspace, key)) return {};
  ++asked_.gets;
  if (tx.first.at(keyspace).map.contains(key)) ++asked_.gets_found;
  if (tx.isolation == Isolation::kSerializable) tx.reads.emplace(id, key);
  return {};
}

Status ModelRun::scan_in(ModelTransaction& tx, const Operation& operation) {
  const std::uint32_t keyspace = tx.existing(operation.keyspace);
  const std::uint32_t id = *tx.view.at(keyspace).id;
  ScanOptions options{.prefix = operation.bounds.prefix, .reverse = operation.bounds.reverse};
  if (operation.bounds.from) options.from = *operation.bounds.from;
  if (operation.bounds.to) options.to = *operation.bounds.to;
  OpenIterator iterator{id == 0 ? tx.store.scan(options) : tx.store.scan(handles_.at(id), options),
                        ModelWalk(tx.view.at(keyspace).map, operation.bounds)};
  if (tx.isolation == Isolation::kSerializable) {
    tx.scans.emplace_back(id, operation.bounds);
    const bool is_read = iterator.model.valid() && !tx.has_written(keyspace, iterator.model.key());
    if (is_read) tx.reads.emplace(id, iterator.model.key());
  }
  TAMIS_TRY_STATUS(compare_position(iterator));
  return walk(iterator, operation.moves);
}

Status ModelRun::write_in(ModelTransaction& tx, const Operation& operation) {
  for (Change change : operation.changes) {
    change.keyspace = tx.existing(change.keyspace);
    change.expires_in = 0;  // A transaction's own put has no lifetime.
    const std::uint32_t id = *tx.view.at(change.keyspace).id;
    if (change.is_range) {
      TAMIS_TRY_STATUS(id == 0 ? tx.store.remove_range(change.key, change.to)
                               : tx.store.remove_range(handles_.at(id), change.key, change.to));
      if (change.is_empty()) continue;
    } else if (change.is_merge) {
      TAMIS_TRY_STATUS(id == 0 ? tx.store.merge(change.key, value_of(change))
                               : tx.store.merge(handles_.at(id), change.key, value_of(change)));
    } else if (id == 0) {
      TAMIS_TRY_STATUS(change.is_put ? tx.store.put(change.key, value_of(change)) : tx.store.remove(change.key));
    } else {
      const Keyspace& into = handles_.at(id);
      TAMIS_TRY_STATUS(change.is_put ? tx.store.put(into, change.key, value_of(change))
                                     : tx.store.remove(into, change.key));
    }
    Model::apply_to(tx.view.at(change.keyspace).map, change);
    tx.own.push_back(std::move(change));
  }
  return {};
}

/// One that may conflict or not is rolled back: the outcome would depend on the options.
Status ModelRun::commit(std::optional<ModelTransaction>& slot, const Operation& operation) {
  ModelTransaction tx = *std::exchange(slot, {});
  const ModelTransaction::Outcome expected = tx.outcome(model_);
  if (expected == ModelTransaction::Outcome::kEither) return tx.store.rollback();
  Status committed = tx.store.commit({.sync = operation.sync});
  if (depth_ > 0 && committed.code() == StatusCode::kBusy) return {};
  if (expected == ModelTransaction::Outcome::kConflicts) {
    if (committed.code() == StatusCode::kConflict) return {};
    return disagreement("a transaction that conflicts said " + committed.to_text());
  }
  TAMIS_TRY_STATUS(std::move(committed));
  for (const Change& change : tx.own) model_.apply(change, change.keyspace, machine_.clock);
  asked_.writes += tx.own.size();
  return {};
}

std::uint64_t ModelRun::live_snapshots() const {
  const auto live =
      std::count_if(transactions_.begin(), transactions_.end(), [](const auto& tx) { return tx.has_value(); });
  return model_.snapshots() + static_cast<std::uint64_t>(live);
}

}  // namespace tamis::test
