// Lookups in the runs of a version, newest first: in memory only (peek), together (peek_many), the rest on disk (find).
#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/epoch.h"
#include "base/try.h"
#include "table/block_batch.h"
#include "table/probe_sampling.h"
#include "tree/expected_hits.h"
#include "tree/version.h"

namespace tamis {
namespace {

TableStep step_in_memory(const Table& table, LookupAnswer answer, const StagedLookup& staged) {
  TableStep step{.table = &table, .verdict = FilterVerdict::kNo, .outcome = TableOutcome::kRuledOut};
  if (answer == LookupAnswer::kAbsent) return step;
  step.verdict = table.has_filter_in_memory() ? FilterVerdict::kMaybe : FilterVerdict::kNone;
  step.source = BlockSource::kCache;
  step.outcome = TableOutcome::kAbsent;
  if (answer == LookupAnswer::kFound) step.outcome = outcome_of(staged.found);
  return step;
}

}  // namespace

inline bool Version::ends_before(std::uint32_t table, const SearchKey& key) const {
  const std::uint64_t largest = heads_[table].largest;
  return largest != key.head ? largest < key.head : tables_[table]->facts().largest_key < key.key;
}

inline bool Version::begins_after(std::uint32_t table, const SearchKey& key) const {
  const std::uint64_t smallest = heads_[table].smallest;
  return smallest != key.head ? smallest > key.head : tables_[table]->facts().smallest_key > key.key;
}

std::uint32_t Version::first_reaching(TableSpan span, const SearchKey& key) const {
  std::uint32_t first = span.first;
  // Compares heads alone, without a branch: it would be unpredictable.
  for (std::uint32_t count = span.count; count > 0;) {
    const std::uint32_t half = (count + 1) / 2;
    first += half & (0U - static_cast<std::uint32_t>(heads_[first + half - 1].largest < key.head));
    count -= half;
  }
  std::uint32_t end = span.first + span.count;
  if (first == end || heads_[first].largest != key.head) [[likely]]
    return first;
  while (first < end) {
    const std::uint32_t middle = first + (end - first) / 2;
    if (ends_before(middle, key)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

inline Table* Version::candidate(const SearchRun& run, const SearchKey& key) const {
  if (key.head < run.bounds.smallest || key.head > run.bounds.largest) return nullptr;
  const std::uint32_t table = first_reaching(run.tables, key);
  if (table == run.tables.first + run.tables.count || begins_after(table, key)) return nullptr;
  return tables_[table].get();
}

inline Table* Version::next_candidate(const Lookup& lookup, const RunSet& possible, std::uint32_t& run) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  for (run = possible.next(run); run < runs_.size(); run = possible.next(run + 1)) {
    if (Table* const table = candidate(runs_[run], key)) return table;
  }
  return nullptr;
}

/// What the run index rules out saves tables a question, but the question was asked (rule 46).
inline void Version::sample_passed_over(const StagedLookup& staged, const RunSet& possible) const {
  if (run_index_.empty() || !ProbeSampling::is_sampled()) [[likely]]
    return;
  count_passed_over(staged, possible);
}

/// Those of the runs before the one that has the key.
[[gnu::noinline]] void Version::count_passed_over(const StagedLookup& staged, const RunSet& possible) const {
  const SearchKey key{staged.lookup.key, key_head(staged.lookup.key)};
  for (std::uint32_t run = 0; run < runs_.size(); ++run) {
    const Table* const table = candidate(runs_[run], key);
    if (table == nullptr) continue;
    if (staged.answer == LookupAnswer::kFound && table == staged.table) return;
    if (!possible.contains(run)) table->count_sampled_passing();
  }
}

/// Prefetches the lines of their filters, so that they arrive together.
inline std::size_t Version::next_candidates(const Lookup& lookup, const RunSet& possible, std::uint32_t& run,
                                            Candidates& candidates) const {
  std::size_t count = 0;
  while (count < candidates.size()) {
    Table* const table = next_candidate(lookup, possible, run);
    if (table == nullptr) break;
    table->prefetch_filter(lookup.hash);
    candidates[count++] = {table, run++};
  }
  return count;
}

/// If this thread's lookups find their keys, the last of the candidates is expected to have the key.
template <typename Steps>
void Version::peek(StagedLookup& staged, Steps& steps) const {
  const Lookup& lookup = staged.lookup;
  const bool expects_hit = ExpectedHits::prefetch();
  const RunSet possible = run_index_.possible(lookup.hash);
  Candidates candidates;
  LookupAnswer answer = LookupAnswer::kAbsent;
  for (std::uint32_t run = 0; run < runs_.size() && answer == LookupAnswer::kAbsent;) {
    const std::size_t count = next_candidates(lookup, possible, run, candidates);
    std::uint32_t answered = 0;
    while (answered < count && answer == LookupAnswer::kAbsent) {
      const Table& table = *candidates[answered].table;
      const LookupAnswer here = table.peek(lookup, expects_hit && answered + 1 == count, staged.found);
      if (here == LookupAnswer::kUnknown) {
        staged.run = candidates[answered].run;
        answer = here;
        break;
      }
      if constexpr (Steps::kRecords) {
        record_passed_over(lookup, candidates[answered].run, steps);
        steps.add(step_in_memory(table, here, staged));
      }
      ++answered;
      if (here == LookupAnswer::kAbsent) continue;
      const bool is_found = here == LookupAnswer::kFound;
      table.count_peeks(is_found ? 1 : 0, is_found ? 0 : 1);
      if (is_found) {
        staged.table = &table;
        answer = here;
      }
    }
    if (ProbeSampling::skips(answered)) continue;
    for (std::uint32_t i = 0; i < answered; ++i) {
      if (ProbeSampling::is_sampled()) candidates[i].table->count_sampled_probe(candidates[i].table == staged.table);
    }
  }
  staged.answer = answer;
  if (answer != LookupAnswer::kUnknown) sample_passed_over(staged, possible);
  if (answer == LookupAnswer::kFound) {
    ExpectedHits::add_hits(1);
  } else if (answer == LookupAnswer::kAbsent) {
    ExpectedHits::add_miss();
    if constexpr (Steps::kRecords) record_passed_over(lookup, runs_.size(), steps);
  }
}

template void Version::peek(StagedLookup&, NoSteps&) const;
template void Version::peek(StagedLookup&, RecordedSteps&) const;

/// If this thread has found all of its last few keys, a key is expected in its last candidate. Then that table's filter
/// is asked only if the key is not there.
void Version::peek_many(std::span<StagedLookup> lookups) const {
  TAMIS_INVARIANT(lookups.size() <= kLookupsAtOnce);
  const bool expects_hits = ExpectedHits::replace_filters();
  std::array<RunSet, kLookupsAtOnce> possible;  // One per lookup.
  LookupGroup open;
  std::uint32_t opened = 0;
  for (StagedLookup& staged : lookups) {
    if (staged.answer != LookupAnswer::kAbsent) continue;
    run_index_.prefetch(staged.lookup.hash);
    staged.run = 0;
    open.add(staged);
    ++opened;
  }
  ExpectedHits::add_hits(opened);  // Until the first miss.
  for (const StagedLookup* staged : open) run_index_.prefetch_rows(staged->lookup.hash);
  for (const StagedLookup* staged : open) {
    possible[staged - lookups.data()] = run_index_.possible(staged->lookup.hash);
  }
  while (!open.empty()) {
    open.keep_if([&](StagedLookup& staged) {
      const RunSet& runs = possible[&staged - lookups.data()];
      staged.table = next_candidate(staged.lookup, runs, staged.run);
      if (staged.table == nullptr) {
        ExpectedHits::add_miss();
        sample_passed_over(staged, runs);
        return false;
      }
      std::uint32_t later = staged.run + 1;
      staged.is_expected = expects_hits && next_candidate(staged.lookup, runs, later) == nullptr;
      if (!staged.is_expected) staged.table->prefetch_filter(staged.lookup.hash);
      return true;
    });
    LookupGroup here = open;
    Table::peek_many(here);
    open.keep_if([&](StagedLookup& staged) {
      if (staged.answer == LookupAnswer::kUnknown) return false;
      if (ProbeSampling::is_sampled()) {
        staged.table->count_sampled_probe(staged.answer == LookupAnswer::kFound);
      }
      if (staged.answer == LookupAnswer::kFound) {
        sample_passed_over(staged, possible[&staged - lookups.data()]);
        return false;
      }
      ++staged.run;
      return true;
    });
  }
}

/// Prefetches the filter lines of all candidates first, so that they arrive together.
template <typename Steps>
void Version::find(std::span<DiskLookup> lookups, bool fills_cache, Steps& steps) const {
  for (DiskLookup& lookup : lookups) {
    const Lookup& key = lookup.staged->lookup;
    lookup.possible = run_index_.possible(key.hash);
    std::uint32_t run = lookup.staged->run;
    if (run + 1 >= runs_.size()) continue;  // A single run needs no prefetch.
    const EpochGuard guard;
    for (; const Table* table = next_candidate(key, lookup.possible, run); ++run) table->prefetch_filter(key.hash);
  }
  for (BlockBatch batch(fills_cache);; batch.clear()) {
    for (DiskLookup& lookup : lookups) {
      if (lookup.is_over) continue;
      if (Status status = advance(lookup, lookups.size() == 1, fills_cache, steps); !status.ok()) {
        lookup.fail(std::move(status));
      }
      if (!lookup.is_over) lookup.waits_for = batch.add(lookup.search);
    }
    if (batch.empty()) return;
    batch.read();
    for (DiskLookup& lookup : lookups) {
      if (lookup.is_over) continue;
      const Result<PinnedBlock>& block = batch.block(lookup.waits_for);
      if (!block.ok()) {
        lookup.fail(block.status());
      } else {
        lookup.pin = block->share();
      }
    }
  }
}

template void Version::find(std::span<DiskLookup>, bool, NoSteps&) const;
template void Version::find(std::span<DiskLookup>, bool, RecordedSteps&) const;

/// Searches table after table until the lookup ends or needs an uncached block. If it is alone, it reads the block.
template <typename Steps>
Status Version::advance(DiskLookup& lookup, bool is_alone, bool fills_cache, Steps& steps) const {
  StagedLookup& staged = *lookup.staged;
  TableSearch& search = lookup.search;
  while (!lookup.is_over) {
    bool goes_on = true;
    std::optional<FoundEntry> found;
    if (search.table == nullptr) {
      Table* const table = next_candidate(staged.lookup, lookup.possible, staged.run);
      if constexpr (Steps::kRecords) record_passed_over(staged.lookup, staged.run, steps);
      lookup.is_over = table == nullptr;
      if (lookup.is_over) {
        staged.answer = LookupAnswer::kAbsent;
        sample_passed_over(staged, lookup.possible);
        break;
      }
      ++staged.run;
      TAMIS_TRY(goes_on, table->begin_search(staged.lookup, fills_cache, search));
    } else {
      if (!lookup.pin) lookup.pin = search.table->find_block(search.block);
      if (!lookup.pin) {
        if (!is_alone) break;
        TAMIS_TRY(lookup.pin, search.table->fetch_block(search));
      }
      TAMIS_TRY(goes_on, search.table->search_block(search, staged.lookup, lookup.pin.bytes(), found));
    }
    if (found) {
      staged.found = *found;
      staged.answer = LookupAnswer::kFound;
      staged.table = search.table;
      lookup.is_over = true;
      sample_passed_over(staged, lookup.possible);
    } else {
      lookup.pin.reset();
    }
    if (goes_on) continue;
    if constexpr (Steps::kRecords) steps.add(search.step);
    search.table = nullptr;
  }
  return {};
}

void Version::record_passed_over(const Lookup& lookup, std::size_t end, RecordedSteps& steps) const {
  const SearchKey key{lookup.key, key_head(lookup.key)};
  for (std::size_t run = steps.steps.size(); run < std::min(end, runs_.size()); ++run) {
    TableStep step;
    step.table = candidate(runs_[run], key);
    if (step.table != nullptr) {
      step.verdict = FilterVerdict::kNoByRunIndex;
      step.outcome = TableOutcome::kRuledOut;
    } else {
      step.table = tables_[runs_[run].tables.first].get();
      step.outcome = TableOutcome::kOutside;
    }
    steps.add(step);
  }
}

}  // namespace tamis
