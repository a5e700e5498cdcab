// The store that most rows share: filled by single puts, measured as filled, compacted, measured again, opened cold,
// with little memory, and finally changed by YCSB.

#include <algorithm>
#include <memory>

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
    field_.part_of({"fill_single", "fill_settled"}, "fill_single", [&] { fill_rounds(); });
    field_.part("large store", [&] { fill_and_keep(); });
    field_.part_of({"hit_filled", "seek_100_filled", "seek_1_filled", "scan_filled"}, "as filled", [&] {
      field_.each([&](Contestant& contestant) { check_all(*contestant.session(), stock_); });
      field_.alternate([&](Contestant& contestant, std::uint64_t round) { read_as_filled(contestant, round); });
    });
    field_.part("compact", [&] { field_.each([&](Contestant& contestant) { compact(contestant); }); });
    field_.part_of({"hit", "absent", "hit_pinned", "absent_pinned", "multi_get", "seek_100", "seek_1", "scan"}, "reads",
                   [&] { field_.alternate([&](Contestant& c, std::uint64_t round) { read_compacted(c, round); }); });
    field_.each([](Contestant& contestant) { contestant.close(); });
    field_.part_of({"cold_hit_bytes"}, "cold bytes", [&] { field_.each([&](Contestant& c) { read_bytes_cold(c); }); });
    field_.part_of({"cold_hit", "cold_absent"}, "cold", [&] { field_.each([&](Contestant& c) { read_cold(c); }); });
    field_.part_of({"open"}, "open",
                   [&] { field_.alternate([&](Contestant& c, std::uint64_t) { open_and_close(c); }); });
    field_.part_of({"resident"}, "resident", [&] { field_.each([&](Contestant& c) { weigh(c); }); });
    measure_starts(field_, stock_);
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
      const Outcome filled = put_singly(*contestant.session(), stock_, 0, contestant.single_puts(stock_.count));
      note_fill(contestant, filled, seconds_of([&] { settle(contestant); }));
      contestant.close();
    });
  }

  static void settle(Contestant& contestant) {
    contestant.flush();
    contestant.settle();
  }

  void note_fill(const Contestant& contestant, const Outcome& filled, double seconds_to_settle) {
    const Outcome settled = {filled.seconds + seconds_to_settle, filled.operations, 0};
    field_.report().add("fill_single", contestant.id(), filled.kops());
    field_.report().add("fill_settled", contestant.id(), settled.kops());
  }

  void fill_and_keep() {
    const bool is_timed = field_.wants({"fill_single", "fill_settled"});
    const bool singly = is_timed || field_.wants({"write_amplification", "own_write_amplification"});
    field_.each([&](Contestant& contestant) {
      contestant.open(field_.fresh_folder(contestant), shape());
      const std::uint64_t written_before = bytes_written();
      auto session = contestant.session();
      const std::uint64_t single = singly ? contestant.single_puts(stock_.count) : 0;
      const Outcome filled = put_singly(*session, stock_, 0, single);
      put_batches(*session, stock_, single, stock_.count - single, kBatch);
      const double seconds_to_settle = seconds_of([&] { settle(contestant); });
      if (is_timed) note_fill(contestant, filled, seconds_to_settle);
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

  /// The scan brings everything into the caches.
  void compact(Contestant& contestant) {
    contestant.compact();
    contestant.settle();
    check_all(*contestant.session(), stock_);
  }

  void read_as_filled(Contestant& contestant, std::uint64_t round) {
    auto session = contestant.session();
    read(*session, contestant, round,
         {.hit = "hit_filled", .seek_100 = "seek_100_filled", .seek_1 = "seek_1_filled", .scan = "scan_filled"});
  }

  void read_compacted(Contestant& contestant, std::uint64_t round) {
    auto session = contestant.session();
    measure("absent", contestant, round, &Outcome::nanoseconds,
            [&] { return get_absent(*session, stock_, lookups_, round); });
    measure("multi_get", contestant, round, &Outcome::nanoseconds,
            [&] { return multi_get_hits(*session, stock_, lookups_, kAtOnce, round); });
    if (session->can_pin()) {
      measure("hit_pinned", contestant, round, &Outcome::nanoseconds,
              [&] { return get_hits_pinned(*session, stock_, lookups_, round); });
      measure("absent_pinned", contestant, round, &Outcome::nanoseconds,
              [&] { return get_absent_pinned(*session, stock_, lookups_, round); });
    }
    read(*session, contestant, round, {.hit = "hit", .seek_100 = "seek_100", .seek_1 = "seek_1", .scan = "scan"});
  }

  /// Rows that are measured before and after compacting.
  struct ReadRows {
    const char* hit;
    const char* seek_100;
    const char* seek_1;
    const char* scan;
  };

  void read(Session& session, Contestant& contestant, std::uint64_t round, const ReadRows& rows) {
    measure(rows.hit, contestant, round, &Outcome::nanoseconds,
            [&] { return get_hits(session, stock_, lookups_, round); });
    measure(rows.seek_100, contestant, round, &Outcome::microseconds,
            [&] { return seek(session, stock_, lookups_ / 20 + 1, 100, round); });
    measure(rows.seek_1, contestant, round, &Outcome::microseconds,
            [&] { return seek(session, stock_, lookups_ / 4 + 1, 1, round); });
    measure(rows.scan, contestant, 0, &Outcome::mops,  // The same sum in every round.
            [&] { return scan_all(session, stock_); });
  }

  template <typename Work>
  void measure(const char* row, Contestant& contestant, std::uint64_t round, double (Outcome::*figure)() const,
               const Work& work) {
    if (!field_.wants({row})) return;
    const Outcome outcome = work();
    field_.add(row, contestant, (outcome.*figure)(), round, outcome.checksum);
  }

  std::unique_ptr<Session> open_cold(Contestant& contestant) {
    StoreShape cold = shape();
    cold.is_cold = true;
    contestant.open(field_.folder(contestant), cold);
    return contestant.session();
  }

  /// The first lookups open tables that a store opens lazily; they are not counted.
  void read_cold(Contestant& contestant) {
    auto session = open_cold(contestant);
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

  /// What the kernel reads from storage: its cache is emptied once the store has in memory what it keeps there. Few
  /// lookups, so that hardly any finds a page that another one has read; a mapped page cannot be dropped.
  void read_bytes_cold(Contestant& contestant) {
    drop_cached_pages(field_.folder(contestant));
    auto session = open_cold(contestant);
    const std::uint64_t lookups = std::min<std::uint64_t>(stock_.count, 2'000);
    get_hits(*session, stock_, lookups / 2, 1);
    drop_cached_pages(field_.folder(contestant));
    const std::uint64_t before = bytes_read();
    const Outcome hits = get_hits(*session, stock_, lookups, 2);
    const auto bytes = static_cast<double>(bytes_read() - before);
    if (bytes > 0) add("cold_hit_bytes", contestant, 0, bytes / static_cast<double>(lookups), hits);
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
  const bool is_wanted = field.wants_groups({"scans", "starts", "ycsb", "cost"}) ||
                         field.wants({"fill_single", "fill_settled", "hit", "absent", "multi_get", "hit_pinned",
                                      "absent_pinned", "hit_filled"});
  if (!is_wanted) return;
  LargeStore(field).run();
}

}  // namespace tamis::bench
