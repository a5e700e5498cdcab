// Lookups of keys with merge operands (rule 31). Not on the path of other keys.
#include "base/check.h"
#include "base/try.h"
#include "engine/explained_steps.h"
#include "engine/reader.h"
#include "engine/view_range_deletes.h"
#include "table/value_file.h"

namespace tamis {

/// Beneath an operand, the key is what it was right before the operand was written. A range delete that hides only what
/// is older was written before the operand too.
template <typename Steps>
Status Reader::fold(const ReadView& view, Lookup lookup, std::uint64_t time, bool fills_cache, Steps& steps,
                    std::string& folded) const {
  OperandChain chain;
  for (bool goes_on = true; goes_on;) {
    StagedLookup staged;
    staged.lookup = lookup;
    std::optional<DiskLookup> disk;  // Has the block with the value.
    if (!ask_memtables(view, staged, steps)) {
      disk.emplace(staged);
      view.version->find({&*disk, 1}, fills_cache, for_tables(steps));
      if (!disk->status.ok()) return disk->status;
    }
    if (lacks_range_deletes(view, staged)) view.version->range_deletes()->read_again();
    std::string_view value;
    Visible here = meaning_of(
        staged, [time] { return time; }, value);
    bool is_hidden = false;
    if (here != Visible::kDeleted && view.has_range_deletes()) {
      TAMIS_TRY(is_hidden, hide_covered(view, staged));
      if (is_hidden) here = Visible::kDeleted;
    }
    if constexpr (Steps::kRecords) {
      steps.end_lookup(here, is_hidden);
      if (here == Visible::kOperand) steps.operands.emplace_back(value);
    }
    std::string read;
    if (here == Visible::kApart) {
      TAMIS_TRY(const ValueRead apart, view.version->begin_value(lookup.key, value, read));
      if constexpr (Steps::kRecords) steps.add_value_file(apart.pointer.file);
      TAMIS_TRY_STATUS(apart.file->read(apart.pointer, lookup.key, read));
      if constexpr (Steps::kRecords) steps.end_value();
      value = read;
    }
    if (here != Visible::kDeleted) TAMIS_TRY_STATUS(chain.add(value, staged.found.sequence));
    goes_on = here == Visible::kOperand && staged.found.sequence > Sequence{0};
    if (goes_on) lookup.sequence = Sequence{number_of(staged.found.sequence) - 1};
  }
  TAMIS_CHECK(!chain.empty());
  return chain.fold(merge_operator_.load(std::memory_order_acquire), folded);
}

template Status Reader::fold(const ReadView&, Lookup, std::uint64_t, bool, NoSteps&, std::string&) const;
template Status Reader::fold(const ReadView&, Lookup, std::uint64_t, bool, ExplainedSteps&, std::string&) const;

}  // namespace tamis
