// Scans while another thread writes.
#include <atomic>
#include <thread>

#include "base/random.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kEverything = ~std::uint64_t{0};
constexpr int kScans = 3;

/// Puts new versions of random entries, and counts them, until told to stop.
void overwrite(Session& session, const Stock& stock, std::uint64_t seed, const std::atomic<bool>& ends,
               std::atomic<std::uint64_t>& puts) {
  SplitMix64 random(seed);
  while (!ends.load(std::memory_order_relaxed)) {
    const std::uint64_t number = 2 * random.below(stock.count);
    session.put(stock.data.key(number).view(), stock.data.value(number, random.below(DataSet::kVersions)), false);
    puts.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Checks values and order: a sum would depend on which writes came first.
void scan_and_check(Session& session, const Stock& stock) {
  Tally tally;
  tally.checks = &stock.data;
  session.scan({}, kEverything, tally);
  if (tally.entries != stock.count) stop("a scan beside writes lost entries");
}

}  // namespace

void measure_mixed(Field& field) {
  if (!field.wants({"scan_while_writing", "put_while_scanning"})) return;
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, field.entries() / 5 + 1};
  const auto round = [&](Contestant& contestant, std::uint64_t number) {
    std::atomic<bool> ends = false;
    std::atomic<std::uint64_t> puts = 0;
    std::thread writer([&] { overwrite(*contestant.session(), stock, number, ends, puts); });
    while (puts == 0) std::this_thread::yield();
    const std::uint64_t puts_before = puts;
    auto session = contestant.session();
    const double seconds = seconds_of([&] {
      for (int i = 0; i < kScans; ++i) scan_and_check(*session, stock);
    });
    const std::uint64_t puts_beside = puts - puts_before;
    ends = true;
    writer.join();
    const std::uint64_t entries = kScans * stock.count;
    field.report().add("scan_while_writing", contestant.id(), static_cast<double>(entries) / seconds / 1e6);
    field.report().add("put_while_scanning", contestant.id(), static_cast<double>(puts_beside) / seconds / 1e3);
    field.report().add_checksum("scan_while_writing", contestant.id(), number, entries);
  };
  field.part("scan while writing", [&] {
    field.each([&](Contestant& contestant) {
      contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
      put_batches(*contestant.session(), stock, 0, stock.count, kBatch);
      contestant.compact();
      check_all(*contestant.session(), stock);
    });
    field.alternate(round);
    field.each([](Contestant& contestant) { contestant.close(); });
  });
}

}  // namespace tamis::bench
