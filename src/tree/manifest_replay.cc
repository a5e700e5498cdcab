#include "tree/manifest_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include "base/try.h"

namespace tamis {

Status ManifestReplay::apply(const ManifestEdit& edit) {
  std::unordered_set<std::uint64_t> removed;
  for (const std::uint64_t number : edit.shape.removed) {
    if (!removed.insert(number).second) return Status::corruption("an edit removes a table twice");
    if (tables_.erase(number) > 0) continue;
    return Status::corruption(fmt::format("an edit removes table {}, which is not in the shape", number));
  }
  for (const ShapeEdit::Added& added : edit.shape.added) {
    if (added.facts == nullptr) return Status::corruption("an edit adds a table without its facts");
    if (tables_.emplace(added.facts->number, added).second) continue;
    return Status::corruption(fmt::format("table {} occurs twice", added.facts->number));
  }
  const ManifestEdit without_tables{.flushed_sequence = edit.flushed_sequence,
                                    .first_journal = edit.first_journal,
                                    .reserved_numbers = edit.reserved_numbers};
  TAMIS_TRY(numbers_, with_edit(numbers_, without_tables));
  return {};
}

/// Tables are added in key order, so that each goes to the end of its run.
Result<ManifestState> ManifestReplay::finish() const {
  ManifestEdit edit;
  edit.shape.added.reserve(tables_.size());
  for (const auto& [number, added] : tables_) edit.shape.added.push_back(added);
  const auto place = [](const ShapeEdit::Added& added) {
    return std::tie(added.level, added.run, added.facts->smallest_key, added.facts->number);
  };
  std::ranges::sort(edit.shape.added, [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return with_edit(numbers_, edit);
}

}  // namespace tamis
