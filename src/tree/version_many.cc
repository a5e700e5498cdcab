// Many lookups at once: those in memory go side by side, so that their waits for memory overlap; those on disk wait for
// their blocks together.
#include <array>
#include <utility>

#include "base/try.h"
#include "table/block_batch.h"
#include "table/probe_sampling.h"
#include "tree/version.h"

namespace tamis {
namespace {

constexpr std::uint32_t kHitsBeforeExpected = 8;

}  // namespace

/// A key that no run behind its candidate may have is expected there, if this thread has found the last few keys, each
/// of them: then its filter need not be asked (0020). Whoever asks for absent keys does not pay for that.
void Version::peek_many(std::span<StagedPeek> peeks) const {
  TAMIS_INVARIANT(peeks.size() <= kLookupsAtOnce);
  thread_local std::uint32_t found_in_a_row = 0;
  const bool expects_hits = found_in_a_row >= kHitsBeforeExpected;
  std::array<RunSet, kLookupsAtOnce> possible;  // Of each.
  StagedGroup open;
  for (StagedPeek& peek : peeks) {
    if (peek.answer != Peek::kAbsent) continue;
    run_index_.prefetch(peek.lookup.hash);
    peek.run = 0;
    open.add(peek);
    ++found_in_a_row;
  }
  for (const StagedPeek* peek : open) run_index_.prefetch_rows(peek->lookup.hash);
  for (const StagedPeek* peek : open) possible[peek - peeks.data()] = run_index_.possible(peek->lookup.hash);
  while (!open.empty()) {
    open.keep_if([&](StagedPeek& peek) {
      const RunSet& runs = possible[&peek - peeks.data()];
      peek.table = next_candidate(peek.lookup, runs, peek.run);
      if (peek.table == nullptr) {
        found_in_a_row = 0;
        return false;
      }
      std::uint32_t later = peek.run + 1;
      peek.is_expected = expects_hits && next_candidate(peek.lookup, runs, later) == nullptr;
      if (!peek.is_expected) peek.table->prefetch_filter(peek.lookup.hash);
      return true;
    });
    StagedGroup here = open;
    Table::peek_many(here);
    open.keep_if([&](StagedPeek& peek) {
      if (peek.answer == Peek::kUnknown) return false;
      if (ProbeSampling::is_sampled()) peek.table->count_sampled_probe();
      if (peek.answer == Peek::kFound) return false;
      ++peek.run;
      return true;
    });
  }
}

void Version::find_many(std::span<DiskLookup> lookups, bool fills_cache) const {
  BlockBatch batch(fills_cache);
  std::vector<DiskLookup*> open;
  open.reserve(lookups.size());
  for (DiskLookup& lookup : lookups) {
    lookup.possible = run_index_.possible(lookup.lookup.hash);
    open.push_back(&lookup);
  }
  while (!open.empty()) {
    for (DiskLookup* lookup : open) {
      lookup->status = advance(*lookup);
      if (!lookup->status.ok()) lookup->is_over = true;
      if (!lookup->is_over) lookup->waits_for = batch.add(lookup->search);
    }
    std::erase_if(open, [](const DiskLookup* lookup) { return lookup->is_over; });
    batch.read();
    for (DiskLookup* lookup : open) {
      const Result<BlockBatch::SharedBlock>& block = batch.block(lookup->waits_for);
      if (block.ok()) {
        look_into(*lookup, *block);
      } else {
        lookup->status = block.status();
        lookup->is_over = true;
      }
    }
    std::erase_if(open, [](const DiskLookup* lookup) { return lookup->is_over; });
    batch.clear();
  }
}

/// Goes from table to table, until it is over or needs a block that is not in the cache.
Status Version::advance(DiskLookup& lookup) const {
  while (!lookup.is_over) {
    if (lookup.search.table == nullptr) {
      Table* const table = next_candidate(lookup.lookup, lookup.possible, lookup.run);
      if (table == nullptr) {
        lookup.is_over = true;
        break;
      }
      ++lookup.run;
      TAMIS_TRY(const bool may_have_it, table->begin_search(lookup.lookup, lookup.search));
      if (!may_have_it) {
        lookup.search = {};
        continue;
      }
    }
    PinnedBlock pin = lookup.search.table->cached_block(lookup.search.block, lookup.search.step);
    if (!pin) break;
    look_into(lookup, std::make_shared<const PinnedBlock>(std::move(pin)));
  }
  return {};
}

/// At the block that it waited for.
void Version::look_into(DiskLookup& lookup, std::shared_ptr<const PinnedBlock> block) {
  TableSearch& search = lookup.search;
  if (search.table->search_block(search, lookup.lookup, block->bytes(), lookup.found)) return;
  lookup.is_over = lookup.found.has_value();
  if (lookup.is_over) lookup.block = std::move(block);
  search = {};
}

}  // namespace tamis
