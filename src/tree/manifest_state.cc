#include "tree/manifest_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/try.h"

namespace tamis {
namespace {

template <typename Number>
Status raise(std::string_view what, const std::optional<Number>& to, Number& number) {
  if (!to) return {};
  if (*to < number) return Status::corruption(fmt::format("an edit lowers the {} from {} to {}", what, number, *to));
  number = *to;
  return {};
}

template <typename Visit>
void for_each_table(const Shape& shape, Visit visit) {
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& facts : run.tables) visit(*facts);
    }
  }
}

Status name_twice(std::string_view name) {
  return Status::corruption(fmt::format("two keyspaces have the name \"{:.40}\"", name));
}

Status table_twice(std::uint64_t number) { return Status::corruption(fmt::format("table {} occurs twice", number)); }

/// Whether the names that the edit gives are new.
Status check_names(const ManifestState& state, const ManifestEdit& edit) {
  std::unordered_set<std::string_view> names;
  for (const auto& [id, change] : edit.keyspaces) {
    if (change.created && !names.insert(change.created->name).second) return name_twice(change.created->name);
  }
  if (names.empty()) return {};
  for (const auto& [id, keyspace] : state.keyspaces) {
    const bool is_dropped = std::ranges::find(edit.dropped, id) != edit.dropped.end();
    if (!is_dropped && names.contains(keyspace.name)) return name_twice(keyspace.name);
  }
  return {};
}

/// Whether no other keyspace has a table that the edit adds. Shape::with looks for it in its own.
Status check_table_numbers(const ManifestState& state, const ManifestEdit& edit) {
  std::unordered_map<std::uint64_t, KeyspaceId> added;
  for (const auto& [id, change] : edit.keyspaces) {
    for (const ShapeEdit::Added& table : change.shape.added) {
      if (!added.emplace(table.facts->number, id).second) return table_twice(table.facts->number);
    }
  }
  for (const auto& [id, change] : edit.keyspaces) {
    for (const ValueFileFacts& file : change.shape.values_added) {
      if (!added.emplace(file.number, id).second) return table_twice(file.number);
    }
  }
  if (added.empty() || state.keyspaces.size() == 1) return {};
  std::optional<std::uint64_t> twice;
  for (const auto& [id, keyspace] : state.keyspaces) {
    for_each_table(keyspace.shape, [&, owner = id](const TableFacts& facts) {
      const auto found = added.find(facts.number);
      if (found != added.end() && found->second != owner) twice = facts.number;
    });
    for (const ValueFileFacts& file : keyspace.shape.value_files) {
      const auto found = added.find(file.number);
      if (found != added.end() && found->second != id) twice = file.number;
    }
  }
  return twice ? table_twice(*twice) : Status();
}

}  // namespace

ManifestEdit edit_of(KeyspaceId keyspace, KeyspaceEdit edit) {
  ManifestEdit whole;
  whole.keyspaces.emplace(keyspace, std::move(edit));
  return whole;
}

Result<CheckedEdit> CheckedEdit::make(const ManifestState& state, const ManifestEdit& edit) {
  TAMIS_TRY(CheckedEdit checked, make_unchecked(state, edit));
  TAMIS_TRY_STATUS(check_names(state, edit));
  TAMIS_TRY_STATUS(check_table_numbers(state, edit));
  return checked;
}

Result<CheckedEdit> CheckedEdit::make_unchecked(const ManifestState& state, const ManifestEdit& edit) {
  CheckedEdit checked;
  checked.next_keyspace_ = state.next_keyspace;
  checked.flushed_sequence_ = state.flushed_sequence;
  checked.first_journal_ = state.first_journal;
  checked.reserved_numbers_ = state.reserved_numbers;
  checked.term_ = state.term;
  checked.horizon_ = state.horizon;
  checked.features_ = state.features | edit.features;
  for (const auto& [id, change] : edit.keyspaces) TAMIS_TRY_STATUS(checked.take_keyspace(state, id, change));
  TAMIS_TRY_STATUS(checked.take_dropped(state, edit));
  TAMIS_TRY_STATUS(raise("next keyspace", edit.next_keyspace, checked.next_keyspace_));
  TAMIS_TRY_STATUS(raise("flushed sequence", edit.flushed_sequence, checked.flushed_sequence_));
  TAMIS_TRY_STATUS(raise("first journal", edit.first_journal, checked.first_journal_));
  TAMIS_TRY_STATUS(raise("reserved numbers", edit.reserved_numbers, checked.reserved_numbers_));
  TAMIS_TRY_STATUS(raise("term", edit.term, checked.term_));
  if (edit.horizon) {
    TAMIS_TRY_STATUS(raise("expiry horizon", std::optional(edit.horizon->time), checked.horizon_.time));  // Rule 29.
    checked.horizon_.at = edit.horizon->at;
  }
  return checked;
}

/// Rule 35: an id is given once.
Status CheckedEdit::take_keyspace(const ManifestState& state, KeyspaceId id, const KeyspaceEdit& edit) {
  const auto existing = state.keyspaces.find(id);
  const std::uint32_t number = number_of(id);
  if (edit.created) {
    if (number < next_keyspace_) {
      return Status::corruption(fmt::format("an edit creates keyspace {}, an id that was given before", number));
    }
    if (number == ~std::uint32_t{0}) return Status::corruption("an edit creates a keyspace with the largest id");
    next_keyspace_ = number + 1;
    features_ |= Features::of(Feature::kKeyspaces);
  } else if (existing == state.keyspaces.end()) {
    return Status::corruption(fmt::format("an edit changes keyspace {}, which does not exist", number));
  }
  static const KeyspaceState kNothing;
  const KeyspaceState& before = edit.created ? kNothing : existing->second;
  for (const ShapeEdit::Added& added : edit.shape.added) {
    if (added.facts != nullptr) features_ |= added.facts->features;
  }
  Changed changed{.name = {}, .options = edit.options, .shape = {}, .flushed_sequence = before.flushed_sequence};
  if (edit.created) {
    changed.name = edit.created->name;
    changed.options = edit.created->options;
  }
  if (!edit.shape.values_added.empty()) features_ |= Features::of(Feature::kValuesApart);
  if (!edit.shape.empty()) {
    TAMIS_TRY(changed.shape, before.shape.with(edit.shape));
  }
  TAMIS_TRY_STATUS(raise("flushed sequence", edit.flushed_sequence, changed.flushed_sequence));
  changed_.emplace(id, std::move(changed));
  return {};
}

Status CheckedEdit::take_dropped(const ManifestState& state, const ManifestEdit& edit) {
  for (const KeyspaceId id : edit.dropped) {
    const std::uint32_t number = number_of(id);
    if (id == kDefaultKeyspace) return Status::corruption("an edit drops the default keyspace");
    if (!state.keyspaces.contains(id)) {
      return Status::corruption(fmt::format("an edit drops keyspace {}, which does not exist", number));
    }
    if (edit.keyspaces.contains(id)) {
      return Status::corruption(fmt::format("an edit both changes and drops keyspace {}", number));
    }
    if (std::ranges::find(dropped_, id) != dropped_.end()) {
      return Status::corruption(fmt::format("an edit drops keyspace {} twice", number));
    }
    dropped_.push_back(id);
  }
  return {};
}

void CheckedEdit::apply_to(ManifestState& state) && {
  for (auto& [id, changed] : changed_) {
    KeyspaceState& keyspace = state.keyspaces[id];
    if (changed.name) keyspace.name = *std::move(changed.name);
    if (changed.options) keyspace.options = *std::move(changed.options);
    if (changed.shape) keyspace.shape = *std::move(changed.shape);
    keyspace.flushed_sequence = changed.flushed_sequence;
  }
  for (const KeyspaceId id : dropped_) state.keyspaces.erase(id);
  state.next_keyspace = next_keyspace_;
  state.flushed_sequence = flushed_sequence_;
  state.first_journal = first_journal_;
  state.reserved_numbers = reserved_numbers_;
  state.term = term_;
  state.horizon = horizon_;
  state.features = features_;
}

Status apply_edit(ManifestState& state, const ManifestEdit& edit) {
  TAMIS_TRY(CheckedEdit checked, CheckedEdit::make(state, edit));
  std::move(checked).apply_to(state);
  return {};
}

ManifestEdit whole_edit(const ManifestState& state) {
  ManifestEdit edit;
  for (const auto& [id, keyspace] : state.keyspaces) {
    KeyspaceEdit& change = edit.keyspaces[id];
    if (id != kDefaultKeyspace) change.created = NewKeyspace{keyspace.name, keyspace.options};
    if (id == kDefaultKeyspace && !keyspace.options.empty()) change.options = keyspace.options;
    if (keyspace.flushed_sequence > state.flushed_sequence) change.flushed_sequence = keyspace.flushed_sequence;
    for (std::size_t level = 0; level < keyspace.shape.levels.size(); ++level) {
      for (const Run& run : keyspace.shape.levels[level]) {
        for (const auto& facts : run.tables) {
          change.shape.added.push_back({static_cast<std::uint32_t>(level), run.id, facts});
        }
      }
    }
    change.shape.values_added = keyspace.shape.value_files;
  }
  edit.next_keyspace = state.next_keyspace;
  edit.flushed_sequence = state.flushed_sequence;
  edit.first_journal = state.first_journal;
  edit.reserved_numbers = state.reserved_numbers;
  edit.term = state.term;
  if (state.horizon != ExpiryHorizon{}) edit.horizon = state.horizon;
  edit.features = state.features;
  return edit;
}

std::vector<std::uint64_t> table_numbers(const ManifestState& state) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [id, keyspace] : state.keyspaces) {
    for_each_table(keyspace.shape, [&](const TableFacts& facts) { numbers.push_back(facts.number); });
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::uint64_t> value_file_numbers(const ManifestState& state) {
  std::vector<std::uint64_t> numbers;
  for (const auto& [id, keyspace] : state.keyspaces) {
    for (const ValueFileFacts& file : keyspace.shape.value_files) numbers.push_back(file.number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::uint64_t newest_flushed_sequence_of(const ManifestState& state) {
  std::uint64_t newest = state.flushed_sequence;
  for (const auto& [id, keyspace] : state.keyspaces) newest = std::max(newest, keyspace.flushed_sequence);
  return newest;
}

Status check_state(const ManifestState& state) {
  if (!state.keyspaces.contains(kDefaultKeyspace)) return Status::corruption("there is no default keyspace");
  std::unordered_set<std::string_view> names;
  std::unordered_set<std::uint64_t> tables;
  for (const auto& [id, keyspace] : state.keyspaces) {
    TAMIS_TRY_STATUS(keyspace.shape.check());
    if (!names.insert(keyspace.name).second) return name_twice(keyspace.name);
    std::optional<std::uint64_t> twice;
    for_each_table(keyspace.shape, [&](const TableFacts& facts) {
      if (!tables.insert(facts.number).second) twice = facts.number;
    });
    for (const ValueFileFacts& file : keyspace.shape.value_files) {
      if (!tables.insert(file.number).second) twice = file.number;
    }
    if (twice) return table_twice(*twice);
  }
  return {};
}

}  // namespace tamis
