// Fills of fresh stores, and synced writes.
#include <algorithm>

#include "store/parts.h"

namespace tamis::bench {
namespace {

void fill_rounds(Field& field, const char* row, DataSet::Keys keys) {
  const DataSet data(keys, 100);
  const Stock stock = {data, field.entries()};
  field.alternate([&](Contestant& contestant, std::uint64_t round) {
    contestant.open(field.fresh_folder(contestant),
                    {.entries = stock.count, .is_ascending = keys == DataSet::Keys::kAscending});
    auto session = contestant.session();
    const bool singly = keys == DataSet::Keys::kAscending && contestant.single_puts(stock.count) == stock.count;
    const Outcome filled =
        singly ? put_singly(*session, stock, 0, stock.count) : put_batches(*session, stock, 0, stock.count, kBatch);
    field.report().add(row, contestant.id(), filled.kops());
    if (round == 0) {
      contestant.settle();
      check_all(*session, stock);
      field.report().add_checksum(row, contestant.id(), 0, scan_all(*session, stock).checksum);
    }
    session.reset();
    contestant.close();
  });
}

}  // namespace

void measure_fills(Field& field) {
  if (field.wants({"fill_batch"})) {
    field.part("fill_batch", [&] { fill_rounds(field, "fill_batch", DataSet::Keys::kRandom); });
  }
  if (field.wants({"fill_sequential"})) {
    field.part("fill_sequential", [&] { fill_rounds(field, "fill_sequential", DataSet::Keys::kAscending); });
  }
}

void measure_syncs(Field& field) {
  if (!field.wants({"sync_1", "sync_100"})) return;
  constexpr std::size_t kPerSync = 100;
  const std::uint64_t syncs = std::min<std::uint64_t>(field.entries() / 1000 + 1, 1000);
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, syncs + syncs * kPerSync};
  field.part("sync", [&] {
    field.alternate([&](Contestant& contestant, std::uint64_t round) {
      contestant.open(field.fresh_folder(contestant), {.entries = stock.count, .syncs = true});
      auto session = contestant.session();
      const Outcome singly = put_singly(*session, stock, 0, syncs, true);
      const Outcome batches = put_batches(*session, stock, syncs, syncs * kPerSync, kPerSync, true);
      field.report().add("sync_1", contestant.id(), singly.kops());
      field.report().add("sync_100", contestant.id(), batches.kops());
      check_all(*session, stock);
      field.report().add_checksum("sync_100", contestant.id(), round, scan_all(*session, stock).checksum);
      session.reset();
      contestant.close();
    });
  });
}

}  // namespace tamis::bench
