// Lookups in a store of 100 unmerged sorted runs, with 34 bits of filter per key for every contestant.
#include <fmt/core.h>

#include <algorithm>

#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kRuns = 100;
constexpr double kBitsPerKey = 34;
constexpr std::uint64_t kMaxLookups = 20'000;

}  // namespace

void fill_runs(Contestant& contestant, Session& session, const Stock& stock, std::uint64_t runs) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t first = stock.count * run / runs;
    put_batches(session, stock, first, stock.count * (run + 1) / runs - first, kBatch);
    contestant.flush();
  }
}

void warm(Contestant& contestant, Session& session, const Stock& stock) {
  (void)get_absent(session, stock, std::min(stock.count, kMaxLookups), 0);
  (void)get_hits(session, stock, std::min(stock.count, kMaxLookups), 0);
  contestant.settle();
}

void measure_runs(Field& field) {
  if (!field.wants({"absent_100", "hit_100"})) return;
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, field.entries()};
  const auto make = [&](Contestant& contestant) {
    if (!contestant.can_keep_runs()) {
      field.note(fmt::format("{} is left out of the rows with 100 runs: it cannot be kept from merging them",
                             contestant.name()));
      return;
    }
    contestant.open(field.fresh_folder(contestant),
                    {.entries = stock.count, .bits_per_key = kBitsPerKey, .keeps_runs = true});
    auto session = contestant.session();
    fill_runs(contestant, *session, stock, std::min(kRuns, stock.count / 100 + 1));
    check_all(*session, stock);
    warm(contestant, *session, stock);
  };
  const auto read = [&](Contestant& contestant, std::uint64_t round) {
    if (!contestant.can_keep_runs()) return;
    auto session = contestant.session();
    const std::uint64_t lookups = std::min(stock.count, kMaxLookups);
    const Outcome absent = get_absent(*session, stock, lookups, round);
    const Outcome hits = get_hits(*session, stock, lookups, round);
    field.report().add("absent_100", contestant.id(), absent.nanoseconds());
    field.report().add_checksum("absent_100", contestant.id(), round, absent.checksum);
    field.report().add("hit_100", contestant.id(), hits.nanoseconds());
    field.report().add_checksum("hit_100", contestant.id(), round, hits.checksum);
  };
  field.part("100 runs", [&] {
    field.each(make);
    field.alternate(read);
    field.each([](Contestant& contestant) {
      if (contestant.can_keep_runs()) contestant.close();
    });
  });
}

}  // namespace tamis::bench
