#include "tree/manifest_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/try.h"

namespace tamis {

namespace {

/// Value files are few: each edit changes the shape's list.
ShapeEdit values_of(const ShapeEdit& edit) {
  ShapeEdit values;
  values.values_removed = edit.values_removed;
  values.values_added = edit.values_added;
  return values;
}

}  // namespace

Status ManifestReplay::apply(const ManifestEdit& edit) {
  ManifestEdit without_tables{.keyspaces = {},
                              .dropped = edit.dropped,
                              .flushed_sequence = edit.flushed_sequence,
                              .first_journal = edit.first_journal,
                              .reserved_numbers = edit.reserved_numbers,
                              .term = edit.term,
                              .horizon = edit.horizon,
                              .features = edit.features,
                              .next_keyspace = edit.next_keyspace};
  for (const auto& [id, change] : edit.keyspaces) {
    without_tables.keyspaces.emplace(id, KeyspaceEdit{.created = change.created,
                                                      .options = change.options,
                                                      .shape = values_of(change.shape),
                                                      .flushed_sequence = change.flushed_sequence});
  }
  TAMIS_TRY(CheckedEdit checked, CheckedEdit::make_unchecked(state_, without_tables));
  std::move(checked).apply_to(state_);
  for (const auto& [id, change] : edit.keyspaces) TAMIS_TRY_STATUS(take_tables(id, change.shape));
  return {};
}

Status ManifestReplay::take_tables(KeyspaceId keyspace, const ShapeEdit& edit) {
  std::unordered_set<std::uint64_t> removed;
  for (const std::uint64_t number : edit.removed) {
    if (!removed.insert(number).second) return Status::corruption("an edit removes a table twice");
    const auto found = tables_.find(number);
    if (found == tables_.end() || found->second.keyspace != keyspace) {
      return Status::corruption(fmt::format("an edit removes table {}, which is not in the shape", number));
    }
    tables_.erase(found);
  }
  for (const ShapeEdit::Added& added : edit.added) {
    if (added.facts == nullptr) return Status::corruption("an edit adds a table without its facts");
    const auto [at, is_new] = tables_.try_emplace(added.facts->number, Placed{keyspace, added});
    if (is_new) continue;
    if (state_.keyspaces.contains(at->second.keyspace)) {
      return Status::corruption(fmt::format("table {} occurs twice", added.facts->number));
    }
    at->second = {keyspace, added};
  }
  return {};
}

/// Tables are added in key order, so that each goes to the end of its run.
Result<ManifestState> ManifestReplay::finish() const {
  std::unordered_map<KeyspaceId, ShapeEdit> edits;
  for (const auto& [number, placed] : tables_) edits[placed.keyspace].added.push_back(placed.table);
  const auto place = [](const ShapeEdit::Added& added) {
    return std::tuple(added.level, added.run, added.facts->begin(), added.facts->number);
  };
  ManifestState state = state_;
  for (auto& [id, keyspace] : state.keyspaces) {
    const auto edit = edits.find(id);
    if (edit == edits.end()) continue;
    std::ranges::sort(edit->second.added, [&](const auto& a, const auto& b) { return place(a) < place(b); });
    TAMIS_TRY(keyspace.shape, keyspace.shape.with(edit->second));
  }
  TAMIS_TRY_STATUS(check_state(state));
  return state;
}

}  // namespace tamis
