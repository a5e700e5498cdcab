// Values of kilobytes and megabytes: puts, gets, what they write and the space that they take once overwritten.

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "store/parts.h"
#include "store/process_facts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kLittleMemory = std::uint64_t{64} << 20;
constexpr std::uint64_t kDataPerEntry = 200;  // 1 GB of values for 5 M entries of the other rows.
constexpr std::uint64_t kOverwrites = 2;      // Of each value, on average.
constexpr std::uint64_t kMinValues = 8;

/// The name ends the names of their rows.
struct ValueSize {
  const char* name;
  std::size_t bytes;
};

constexpr auto kSizes = std::to_array<ValueSize>({{"4k", 4 << 10}, {"64k", 64 << 10}, {"1m", 1 << 20}});

class LargeValues {
 public:
  LargeValues(Field& field, const ValueSize& size)
      : field_(field),
        size_(size),
        data_(DataSet::Keys::kRandom, size.bytes),
        stock_{data_, std::max(field.entries() * kDataPerEntry / size.bytes, kMinValues)} {}

  void run() {
    field_.part(fmt::format("{} values", size_.name), [&] {
      field_.alternate([&](Contestant& contestant, std::uint64_t round) { measure(contestant, round); });
    });
  }

 private:
  [[nodiscard]] double user_bytes(std::uint64_t entries) const {
    return static_cast<double>(entries * data_.entry_bytes());
  }
  [[nodiscard]] std::string row(const char* figure) const { return fmt::format("values_{}_{}", figure, size_.name); }
  void add(const char* figure, const Contestant& contestant, double value) {
    field_.report().add(row(figure), contestant.id(), value);
  }
  [[nodiscard]] double megabytes_per_second(const Outcome& outcome) const {
    return user_bytes(outcome.operations) / 1e6 / outcome.seconds;
  }

  void measure(Contestant& contestant, std::uint64_t round) {
    contestant.open(field_.fresh_folder(contestant),
                    {.entries = stock_.count, .memory_bytes = kLittleMemory, .has_large_values = true});
    auto session = contestant.session();
    const auto write = [&](const char* rate, const char* amplification, const auto& work) {
      const std::uint64_t before = bytes_written();
      const Outcome done = work();
      contestant.flush();
      contestant.settle();
      add(rate, contestant, megabytes_per_second(done));
      const auto written = static_cast<double>(bytes_written() - before);
      if (written > 0) add(amplification, contestant, written / user_bytes(done.operations));
    };
    write("put", "written", [&] { return put_singly(*session, stock_, 0, stock_.count); });
    (void)get_hits(*session, stock_, stock_.count, round);  // Warms the caches, the kernel's too.
    const Outcome hits = get_hits(*session, stock_, stock_.count, round + 1);
    field_.add(row("get"), contestant, megabytes_per_second(hits), round, hits.checksum);
    const Outcome scanned = scan_all(*session, stock_);
    field_.add(row("scan"), contestant, megabytes_per_second(scanned), round, scanned.checksum);
    write("overwrite", "rewritten", [&] { return overwrite(*session, round); });
    const std::uint64_t all = disk_bytes(field_.folder(contestant));
    add("disk", contestant,
        static_cast<double>(all - std::min(all, contestant.recycled_bytes())) / user_bytes(stock_.count));
    if (round == 0) check_all(*session, stock_);
    session.reset();
    contestant.close();
  }

  /// Uniformly.
  Outcome overwrite(Session& session, std::uint64_t seed) const {
    Overwriter overwriter(session, stock_, seed);
    const std::uint64_t puts = kOverwrites * stock_.count;
    const double seconds = seconds_of([&] {
      for (std::uint64_t i = 0; i < puts; ++i) overwriter.put_one();
    });
    return {seconds, puts, puts};
  }

  Field& field_;
  const ValueSize size_;
  const DataSet data_;
  const Stock stock_;
};

}  // namespace

void measure_large_values(Field& field) {
  for (const ValueSize& size : kSizes) {
    const auto wants = [&](const char* figure) {
      return field.wants({fmt::format("values_{}_{}", figure, size.name)});
    };
    if (wants("put") || wants("get") || wants("scan") || wants("written") || wants("overwrite") || wants("rewritten") ||
        wants("disk")) {
      LargeValues(field, size).run();
    }
  }
}

}  // namespace tamis::bench
