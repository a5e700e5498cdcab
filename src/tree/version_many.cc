// Many lookups at once: those in memory go side by side, so that their waits for memory overlap; those on disk wait for
// their blocks together.
#include <array>
#include <utility>

#include "base/try.h"
#include "table/block_batch.h"
#include "tree/version.h"

namespace tamis {
namespace {

/// Some of the lookups that go side by side, in their order.
class Group {
 public:
  void add(StagedPeek& peek) { peeks_[count_++] = &peek; }
  /// Leaves out those of which `stays` says no.
  template <typename Predicate>
  void keep_if(Predicate stays) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      if (stays(*peeks_[i])) peeks_[kept++] = peeks_[i];
    }
    count_ = kept;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] StagedPeek* const* begin() const { return peeks_.data(); }
  [[nodiscard]] StagedPeek* const* end() const { return peeks_.data() + count_; }

 private:
  std::array<StagedPeek*, kLookupsAtOnce> peeks_;
  std::size_t count_ = 0;
};

/// Neighbours often asked the same table: counted in one go.
void count_answers(const Group& group) {
  const Table* table = nullptr;
  std::uint64_t found = 0;
  std::uint64_t absent = 0;
  for (const StagedPeek* peek : group) {
    if (peek->table != table) {
      if (table != nullptr) table->count_peeks(found, absent);
      table = peek->table;
      found = absent = 0;
    }
    found += peek->answer == Peek::kFound ? 1 : 0;
    absent += peek->answer == Peek::kAbsentHere ? 1 : 0;
  }
  if (table != nullptr) table->count_peeks(found, absent);
}

/// Each asks the table that is its candidate.
void ask_tables(Group& group) {
  group.keep_if([](StagedPeek& peek) { return peek.table->peek_filter(peek); });
  group.keep_if([](StagedPeek& peek) { return peek.table->peek_index(peek); });
  group.keep_if([](StagedPeek& peek) { return peek.table->peek_slot(peek); });
  for (const StagedPeek* peek : group) peek->table->peek_tags(*peek);
  for (StagedPeek* peek : group) peek->table->peek_entry(*peek);
  count_answers(group);
}

}  // namespace

void Version::peek_many(std::span<StagedPeek> peeks) const {
  TAMIS_INVARIANT(peeks.size() <= kLookupsAtOnce);
  std::array<RunSet, kLookupsAtOnce> possible;  // Of each.
  Group open;
  for (StagedPeek& peek : peeks) {
    if (peek.answer != Peek::kAbsent) continue;
    run_index_.prefetch(peek.lookup.hash);
    peek.run = 0;
    open.add(peek);
  }
  for (const StagedPeek* peek : open) run_index_.prefetch_rows(peek->lookup.hash);
  for (const StagedPeek* peek : open) possible[peek - peeks.data()] = run_index_.possible(peek->lookup.hash);
  while (!open.empty()) {
    open.keep_if([&](StagedPeek& peek) {
      peek.table = next_candidate(peek.lookup, possible[&peek - peeks.data()], peek.run);
      if (peek.table != nullptr) peek.table->prefetch_filter(peek.lookup.hash);
      return peek.table != nullptr;
    });
    Group here = open;
    ask_tables(here);
    open.keep_if([](StagedPeek& peek) {
      if (peek.answer == Peek::kFound || peek.answer == Peek::kUnknown) return false;
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
