// The store that most rows share: filled by single puts, measured as filled, compacted, measured again, opened cold,
// with little memory, and finally changed by YCSB.

#include <algorithm>

#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kMaxLookups = 200'000;
constexpr std::size_t kAtOnce = 32;
constexpr std::uint64_t kLittleMemory = std::uint64_t{256} << 20;

class LargeStore {
 public:
  explicit LargeStore(Field& field)
      : field_(field), stock_{data_, field.entries()}, lookups_(std::min(field.entries(), kMaxLookups)) {}

  void run() {
    field_.part_of({"fill_single"}, "fill_single", [&] { fill_rounds(); });
    field_.part("large store", [&] { fill_and_keep(); });
    field_.part_of({"seek_100_filled"}, "seek_100_filled", [&] { scan_as_filled(); });
    field_.part("compact", [&] { field_.each([&](Contestant& contestant) { compact(contestant); }); });
    field_.part_of({"hit", "absent", "multi_get", "seek_100", "seek_1", "scan"}, "reads",
                   [&] { field_.alternate([&](Contestant& c, std::uint64_t round) { read(c, round); }); });
    field_.each([](Contestant& contestant) { contestant.close(); });
    field_.part_of({"cold_hit", "cold_absent"}, "cold", [&] { field_.each([&](Contestant& c) { read_cold(c); }); });
    field_.part_of({"open"}, "open",
                   [&] { field_.alternate([&](Contestant& c, std::uint64_t) { open_and_close(c); }); });
    field_.part_of({"resident"}, "resident", [&] { field_.each([&](Contestant& c) { weigh(c); }); });
    if (field_.wants_groups({"ycsb"})) field_.part("ycsb", [&] { run_ycsb(); });
  }

 private:
  [[nodiscard]] StoreShape shape() const { return {.entries = stock_.count}; }

  void add(const char* row, const Contestant& contestant, std::uint64_t round, double value, const Outcome& outcome) {
    if (!field_.wants({row})) return;
    field_.add(row, contestant, value, round, outcome.checksum);
  }

  /// All rounds but the last, whose store stays.
  void fill_rounds() {
    field_.alternate(field_.rounds() - 1, [&](Contestant& contestant, std::uint64_t) {
      contestant.open(field_.fresh_folder(contestant), shape());
      const std::uint64_t count = contestant.single_puts(stock_.count);
      const Outcome filled = put_singly(*contestant.session(), stock_, 0, count);
      field_.report().add("fill_single", contestant.id(), filled.kops());
      contestant.close();
    });
  }

  void fill_and_keep() {
    const bool singly = field_.wants({"fill_single", "write_amplification", "own_write_amplification"});
    field_.each([&](Contestant& contestant) {
      contestant.open(field_.fresh_folder(contestant), shape());
      const std::uint64_t written_before = bytes_written();
      auto session = contestant.session();
      const std::uint64_t single = singly ? contestant.single_puts(stock_.count) : 0;
      if (single > 0) {
        const Outcome filled = put_singly(*session, stock_, 0, single);
        if (field_.wants({"fill_single"})) field_.report().add("fill_single", contestant.id(), filled.kops());
      }
      put_batches(*session, stock_, single, stock_.count - single, kBatch);
      contestant.flush();
      contestant.settle();
      note_cost(contestant, bytes_written() - written_before);
      session.reset();
    });
  }

  void note_cost(const Contestant& contestant, std::uint64_t written) {
    const double user_bytes = static_cast<double>(stock_.count * data_.entry_bytes());
    if (field_.wants({"write_amplification"}) && written > 0) {
      field_.report().add("write_amplification", contestant.id(), static_cast<double>(written) / user_bytes);
    }
    const auto own = contestant.own_write_amplification();
    if (field_.wants({"own_write_amplification"}) && own) {
      field_.report().add("own_write_amplification", contestant.id(), *own);
    }
    const std::uint64_t recycled = contestant.recycled_bytes();
    const std::uint64_t all = disk_bytes(field_.folder(contestant));
    if (field_.wants({"disk"})) {
      field_.report().add("disk", contestant.id(), static_cast<double>(all - std::min(all, recycled)) / 1e6);
    }
    if (field_.wants({"recycled"}) && recycled > 0) {
      field_.report().add("recycled", contestant.id(), static_cast<double>(recycled) / 1e6);
    }
  }

  void scan_as_filled() {
    field_.each([&](Contestant& contestant) { check_all(*contestant.session(), stock_); });
    field_.alternate([&](Contestant& contestant, std::uint64_t round) {
      const Outcome seeks = seek(*contestant.session(), stock_, lookups_ / 20 + 1, 100, round);
      add("seek_100_filled", contestant, round, seeks.microseconds(), seeks);
    });
  }

  /// The scan brings everything into the caches.
  void compact(Contestant& contestant) {
    contestant.compact();
    contestant.settle();
    check_all(*contestant.session(), stock_);
  }

  void read(Contestant& contestant, std::uint64_t round) {
    auto session = contestant.session();
    const auto measure = [&](const char* row, double (Outcome::*figure)() const, const auto& work) {
      if (!field_.wants({row})) return;
      const Outcome outcome = work();
      field_.add(row, contestant, (outcome.*figure)(), round, outcome.checksum);
    };
    measure("hit", &Outcome::nanoseconds, [&] { return get_hits(*session, stock_, lookups_, round); });
    measure("absent", &Outcome::nanoseconds, [&] { return get_absent(*session, stock_, lookups_, round); });
    measure("multi_get", &Outcome::nanoseconds,
            [&] { return multi_get_hits(*session, stock_, lookups_, kAtOnce, round); });
    measure("seek_100", &Outcome::microseconds, [&] { return seek(*session, stock_, lookups_ / 20 + 1, 100, round); });
    measure("seek_1", &Outcome::microseconds, [&] { return seek(*session, stock_, lookups_ / 4 + 1, 1, round); });
    if (field_.wants({"scan"})) {
      const Outcome scan = scan_all(*session, stock_);
      add("scan", contestant, 0, scan.mops(), scan);  // The same sum in every round.
    }
  }

  /// The first lookups open tables that a store opens lazily; they are not counted.
  void read_cold(Contestant& contestant) {
    StoreShape cold = shape();
    cold.is_cold = true;
    contestant.open(field_.folder(contestant), cold);
    auto session = contestant.session();
    const std::uint64_t lookups = std::min<std::uint64_t>(stock_.count, 20'000);
    get_hits(*session, stock_, lookups / 4 + 1, 1);
    if (const auto before = contestant.storage_reads()) {
      const Outcome hits = get_hits(*session, stock_, lookups, 2);
      const std::uint64_t between = *contestant.storage_reads();
      const Outcome absent = get_absent(*session, stock_, lookups, 3);
      const std::uint64_t after = *contestant.storage_reads();
      const auto per_lookup = [&](std::uint64_t reads) {
        return static_cast<double>(reads) / static_cast<double>(lookups);
      };
      add("cold_hit", contestant, 0, per_lookup(between - *before), hits);
      add("cold_absent", contestant, 0, per_lookup(after - between), absent);
    }
    session.reset();
    contestant.close();
  }

  /// With little memory, so that allocating a large cache is not measured.
  void open_and_close(Contestant& contestant) {
    StoreShape small = shape();
    small.memory_bytes = kLittleMemory;
    const double seconds = seconds_of([&] { contestant.open(field_.folder(contestant), small); });
    field_.report().add("open", contestant.id(), seconds * 1e3);
    contestant.close();
  }

  /// How much the process has grown, once lookups all over the store have warmed it up.
  void weigh(Contestant& contestant) {
    trim_memory();
    const std::uint64_t before = anonymous_memory();
    StoreShape small = shape();
    small.memory_bytes = kLittleMemory;
    contestant.open(field_.folder(contestant), small);
    const Outcome hits = get_hits(*contestant.session(), stock_, lookups_, 7);
    const std::uint64_t after = anonymous_memory();
    const double mebibytes = after > before ? static_cast<double>(after - before) / (1 << 20) : 0;
    add("resident", contestant, 0, mebibytes, hits);
    contestant.close();
  }

  void run_ycsb() {
    field_.each([&](Contestant& contestant) {
      contestant.open(field_.folder(contestant), shape());
      check_all(*contestant.session(), stock_);
    });
    measure_ycsb(field_, stock_);
    field_.each([](Contestant& contestant) { contestant.close(); });
  }

  Field& field_;
  DataSet data_{DataSet::Keys::kRandom, 100};
  Stock stock_;
  std::uint64_t lookups_;
};

}  // namespace

void measure_large_store(Field& field) {
  if (!field.wants_groups({"scans", "ycsb", "cost"}) && !field.wants({"fill_single", "hit", "absent", "multi_get"}))
    return;
  LargeStore(field).run();
}

}  // namespace tamis::bench
