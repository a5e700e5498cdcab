// Entries other than 16 + 100 bytes: large values, and URLs as keys.
#include <algorithm>

#include "store/parts.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kMaxLookups = 100'000;

struct LargeValues {
  std::size_t value_bytes;
  std::uint64_t divisor;  ///< This many times fewer entries than in the large store.
  std::size_t batch;
  const char* fill_row;
  const char* hit_row;
};

void measure_values(Field& field, const LargeValues& what) {
  const DataSet data(DataSet::Keys::kRandom, what.value_bytes);
  const Stock stock = {data, field.entries() / what.divisor + 1};
  const double megabytes = static_cast<double>(stock.count * data.entry_bytes()) / 1e6;
  field.alternate([&](Contestant& contestant, std::uint64_t round) {
    contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
    const Outcome filled = put_batches(*contestant.session(), stock, 0, stock.count, what.batch);
    contestant.compact();
    auto session = contestant.session();
    check_all(*session, stock);
    const Outcome hits = get_hits(*session, stock, std::min(stock.count, kMaxLookups), round);
    field.report().add(what.fill_row, contestant.id(), megabytes / filled.seconds);
    field.report().add(what.hit_row, contestant.id(), hits.nanoseconds());
    field.report().add_checksum(what.hit_row, contestant.id(), round, hits.checksum);
    session.reset();
    contestant.close();
  });
}

void measure_urls(Field& field) {
  const DataSet data(DataSet::Keys::kUrls, 100);
  const Stock stock = {data, field.entries() / 5 + 1};
  const std::uint64_t lookups = std::min(stock.count, kMaxLookups);
  field.alternate([&](Contestant& contestant, std::uint64_t round) {
    contestant.open(field.fresh_folder(contestant), {.entries = stock.count});
    const Outcome filled = put_batches(*contestant.session(), stock, 0, stock.count, kBatch);
    contestant.compact();
    auto session = contestant.session();
    check_all(*session, stock);
    const Outcome hits = get_hits(*session, stock, lookups, round);
    const Outcome absent = get_absent(*session, stock, lookups, round);
    const Outcome seeks = seek(*session, stock, lookups / 20 + 1, 100, round);
    field.report().add("fill_urls", contestant.id(), filled.kops());
    field.report().add("hit_urls", contestant.id(), hits.nanoseconds());
    field.report().add("absent_urls", contestant.id(), absent.nanoseconds());
    field.report().add("seek_urls", contestant.id(), seeks.microseconds());
    field.report().add_checksum("hit_urls", contestant.id(), round, hits.checksum);
    field.report().add_checksum("absent_urls", contestant.id(), round, absent.checksum);
    field.report().add_checksum("seek_urls", contestant.id(), round, seeks.checksum);
    session.reset();
    contestant.close();
  });
}

}  // namespace

void measure_other_entries(Field& field) {
  if (field.wants({"fill_1k", "hit_1k"})) {
    field.part("1 KiB values", [&] { measure_values(field, {1 << 10, 20, 100, "fill_1k", "hit_1k"}); });
  }
  if (field.wants({"fill_4k", "hit_4k"})) {
    field.part("4 KiB values", [&] { measure_values(field, {4 << 10, 80, 25, "fill_4k", "hit_4k"}); });
  }
  if (field.wants({"fill_urls", "hit_urls", "absent_urls", "seek_urls"})) {
    field.part("URLs", [&] { measure_urls(field); });
  }
}

}  // namespace tamis::bench
