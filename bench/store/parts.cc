#include "store/parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <thread>

#include "store/latencies.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kMaxLookups = 100'000;
constexpr std::uint64_t kRuns = 100;
constexpr double kBitsPerKey = 34;
constexpr std::uint64_t kMaxLookupsInRuns = 20'000;
constexpr std::uint64_t kSyncingThreads = 8;

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

/// By several threads, each with this many entries of its own and a sync per put.
Outcome put_synced_together(Contestant& contestant, const Stock& stock, std::uint64_t first, std::uint64_t each) {
  std::vector<std::unique_ptr<Session>> sessions(kSyncingThreads);
  for (auto& session : sessions) session = contestant.session();
  const double seconds = seconds_of([&] {
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < kSyncingThreads; ++t) {
      threads.emplace_back([&, t] { put_singly(*sessions[t], stock, first + t * each, each, true); });
    }
    for (std::thread& thread : threads) thread.join();
  });
  return {seconds, kSyncingThreads * each, 0};
}

/// Entries other than 16 + 100 bytes. The name ends the names of their rows.
struct OtherEntries {
  const char* name;
  const char* part;
  DataSet::Keys keys;
  std::size_t value_bytes;
  std::uint64_t divisor;  ///< This many times fewer entries than in the large store.
  std::size_t batch;
};

constexpr auto kOtherEntries = std::to_array<OtherEntries>({
    {"1k", "1 KiB values", DataSet::Keys::kRandom, 1 << 10, 20, 100},
    {"4k", "4 KiB values", DataSet::Keys::kRandom, 4 << 10, 80, 25},
    {"urls", "URLs", DataSet::Keys::kUrls, 100, 5, kBatch},
});

void measure(Field& field, const OtherEntries& what) {
  const DataSet data(what.keys, what.value_bytes);
  const Stock stock = {data, field.entries() / what.divisor + 1};
  const double megabytes = static_cast<double>(stock.count * data.entry_bytes()) / 1e6;
  const std::uint64_t lookups = std::min(stock.count, kMaxLookups);
  const bool has_large_values = what.keys == DataSet::Keys::kRandom;
  const auto row = [&](const char* operation) { return fmt::format("{}_{}", operation, what.name); };
  field.alternate([&](Contestant& contestant, std::uint64_t round) {
    contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
    const Outcome filled = put_batches(*contestant.session(), stock, 0, stock.count, what.batch);
    contestant.compact();
    auto session = contestant.session();
    check_all(*session, stock);
    field.report().add(row("fill"), contestant.id(), has_large_values ? megabytes / filled.seconds : filled.kops());
    const Outcome hits = get_hits(*session, stock, lookups, round);
    field.add(row("hit"), contestant, hits.nanoseconds(), round, hits.checksum);
    if (!has_large_values) {
      const Outcome absent = get_absent(*session, stock, lookups, round);
      const Outcome seeks = seek(*session, stock, lookups / 20 + 1, 100, round);
      field.add(row("absent"), contestant, absent.nanoseconds(), round, absent.checksum);
      field.add(row("seek"), contestant, seeks.microseconds(), round, seeks.checksum);
    }
    session.reset();
    contestant.close();
  });
}

}  // namespace

void on_compacted(Field& field, const char* part, const std::function<void(const Stock&)>& work) {
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, field.entries() / 5 + 1};
  field.part(part, [&] {
    field.each([&](Contestant& contestant) {
      contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
      put_batches(*contestant.session(), stock, 0, stock.count, kBatch);
      contestant.compact();
      check_all(*contestant.session(), stock);
    });
    work(stock);
    field.each([&](Contestant& contestant) {
      check_all(*contestant.session(), stock);
      contestant.close();
    });
  });
}

void measure_fills(Field& field) {
  field.part_of({"fill_batch"}, "fill_batch", [&] { fill_rounds(field, "fill_batch", DataSet::Keys::kRandom); });
  field.part_of({"fill_sequential"}, "fill_sequential",
                [&] { fill_rounds(field, "fill_sequential", DataSet::Keys::kAscending); });
}

void measure_syncs(Field& field) {
  if (!field.wants_groups({"sync"})) return;
  constexpr std::size_t kPerSync = 100;
  const std::uint64_t syncs = std::min<std::uint64_t>(field.entries() / 1000 + 1, 1000);
  const DataSet data(DataSet::Keys::kRandom, 100);
  const Stock stock = {data, syncs + syncs * kPerSync + syncs * kSyncingThreads};
  field.part("sync", [&] {
    field.alternate([&](Contestant& contestant, std::uint64_t round) {
      contestant.open(field.fresh_folder(contestant), {.entries = stock.count, .syncs = true});
      auto session = contestant.session();
      const Outcome singly = put_singly(*session, stock, 0, syncs, true);
      const Outcome batches = put_batches(*session, stock, syncs, syncs * kPerSync, kPerSync, true);
      const Outcome together = put_synced_together(contestant, stock, syncs + syncs * kPerSync, syncs);
      field.report().add("sync_1", contestant.id(), singly.kops());
      field.report().add("sync_8", contestant.id(), together.kops());
      check_all(*session, stock);
      field.add("sync_100", contestant, batches.kops(), round, scan_all(*session, stock).checksum);
      session.reset();
      contestant.close();
    });
  });
}

void measure_other_entries(Field& field) {
  for (const OtherEntries& what : kOtherEntries) {
    const auto wants = [&](const char* operation) { return field.wants({fmt::format("{}_{}", operation, what.name)}); };
    if (wants("fill") || wants("hit") || wants("absent") || wants("seek")) {
      field.part(what.part, [&] { measure(field, what); });
    }
  }
}

void fill_runs(Contestant& contestant, Session& session, const Stock& stock, std::uint64_t runs) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t first = stock.count * run / runs;
    put_batches(session, stock, first, stock.count * (run + 1) / runs - first, kBatch);
    contestant.flush();
  }
}

void warm(Contestant& contestant, Session& session, const Stock& stock) {
  (void)get_absent(session, stock, std::min(stock.count, kMaxLookupsInRuns), 0);
  (void)get_hits(session, stock, std::min(stock.count, kMaxLookupsInRuns), 0);
  contestant.settle();
}

void measure_runs(Field& field) {
  if (!field.wants({"absent_100", "hit_100", "hit_100_p50", "hit_100_p999"})) return;
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
    const std::uint64_t lookups = std::min(stock.count, kMaxLookupsInRuns);
    const Outcome absent = get_absent(*session, stock, lookups, round);
    const Outcome hits = get_hits(*session, stock, lookups, round);
    field.add("absent_100", contestant, absent.nanoseconds(), round, absent.checksum);
    field.add("hit_100", contestant, hits.nanoseconds(), round, hits.checksum);
    TimedGets timed(*session, stock, round);
    timed.get_many(lookups);
    add_percentiles(field, contestant, "hit_100", timed.take());
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
