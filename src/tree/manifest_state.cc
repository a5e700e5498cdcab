#include "tree/manifest_state.h"

#include <fmt/core.h>

#include "base/try.h"

namespace tamis {
namespace {

Status raise(std::string_view what, const std::optional<std::uint64_t>& to, std::uint64_t& number) {
  if (!to) return {};
  if (*to < number) return Status::corruption(fmt::format("an edit lowers the {} from {} to {}", what, number, *to));
  number = *to;
  return {};
}

}  // namespace

Result<ManifestState> with_edit(const ManifestState& state, const ManifestEdit& edit) {
  ManifestState next{state.identity, {}, state.flushed_sequence, state.first_journal, state.reserved_numbers};
  TAMIS_TRY(next.shape, state.shape.with(edit.shape));
  TAMIS_TRY_STATUS(raise("flushed sequence", edit.flushed_sequence, next.flushed_sequence));
  TAMIS_TRY_STATUS(raise("first journal", edit.first_journal, next.first_journal));
  TAMIS_TRY_STATUS(raise("reserved numbers", edit.reserved_numbers, next.reserved_numbers));
  return next;
}

ManifestEdit whole_edit(const ManifestState& state) {
  ManifestEdit edit;
  edit.flushed_sequence = state.flushed_sequence;
  edit.first_journal = state.first_journal;
  edit.reserved_numbers = state.reserved_numbers;
  for (std::size_t level = 0; level < state.shape.levels.size(); ++level) {
    for (const Run& run : state.shape.levels[level]) {
      for (const auto& facts : run.tables) {
        edit.shape.added.push_back({static_cast<std::uint32_t>(level), run.id, facts});
      }
    }
  }
  return edit;
}

}  // namespace tamis
