// YCSB A to F with the usual mixes: zipfian requests, with one thread and with two.
#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "store/parts.h"
#include "store/popularity.h"

namespace tamis::bench {
namespace {

constexpr std::uint64_t kMaxOperations = 100'000;  // Per thread and round.
constexpr std::uint64_t kMaxScan = 100;
constexpr std::uint64_t kMaxDraws = std::uint64_t{1} << 20;

/// Percentages; the rest are reads.
struct Mix {
  const char* row;
  const char* row_of_two;
  unsigned updates;
  unsigned inserts;
  unsigned scans;
  unsigned modifies;
  bool reads_latest;
};

/// First those that overwrite nothing: scans over keys with thousands of versions are not part of YCSB.
constexpr auto kMixes = std::to_array<Mix>({
    {"ycsb_c", "ycsb_c_2", 0, 0, 0, 0, false},
    {"ycsb_e", "ycsb_e_2", 0, 5, 95, 0, false},
    {"ycsb_d", "ycsb_d_2", 0, 5, 0, 0, true},
    {"ycsb_b", "ycsb_b_2", 5, 0, 0, 0, false},
    {"ycsb_a", "ycsb_a_2", 50, 0, 0, 0, false},
    {"ycsb_f", "ycsb_f_2", 0, 0, 0, 50, false},
});

/// One thread's part. Its inserts have their own numbers, so that threads need no coordination.
class Client {
 public:
  Client(Contestant& contestant, const Stock& stock, const Popularity& popularity, std::uint64_t first_insert,
         std::uint64_t seed)
      : session_(contestant.session()),
        stock_(stock),
        popularity_(popularity),
        first_insert_(first_insert),
        seed_(seed),
        random_(seed) {}

  void run(const Mix& mix, std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      const std::uint64_t rank = popularity_.rank(remix(seed_) + i);
      auto point = static_cast<unsigned>(random_.below(100));
      const auto falls_in = [&point](unsigned share) {
        const bool inside = point < share;
        point -= inside ? 0 : share;
        return inside;
      };
      if (falls_in(mix.inserts)) {
        put(first_insert_ + 2 * inserted_++);
      } else if (falls_in(mix.updates)) {
        put(popularity_.number(rank));
      } else if (falls_in(mix.scans)) {
        scan(popularity_.number(rank));
      } else if (falls_in(mix.modifies)) {
        read(popularity_.number(rank));
        put(popularity_.number(rank));
      } else {
        read(mix.reads_latest ? latest(rank) : popularity_.number(rank));
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t latest(std::uint64_t rank) const {
    if (rank < inserted_) return first_insert_ + 2 * (inserted_ - 1 - rank);
    return 2 * (stock_.count - 1 - (rank - inserted_));
  }
  void read(std::uint64_t number) {
    if (!session_->get(stock_.data.key(number).view(), buffer_)) stop("YCSB: a key was not found");
    if (!stock_.data.belongs(number, buffer_)) stop("YCSB: a value is not its key's");
  }
  void put(std::uint64_t number) {
    session_->put(stock_.data.key(number).view(), stock_.data.value(number, random_.below(DataSet::kVersions)), false);
  }
  void scan(std::uint64_t number) {
    Tally tally;
    session_->scan(stock_.data.key(number).view(), 1 + random_.below(kMaxScan), tally);
    if (tally.entries == 0) stop("YCSB: a scan found nothing");
  }

  std::unique_ptr<Session> session_;
  const Stock& stock_;
  const Popularity& popularity_;
  std::uint64_t first_insert_;
  std::uint64_t inserted_ = 0;
  std::uint64_t seed_;
  SplitMix64 random_;
  std::string buffer_;
};

class Ycsb {
 public:
  Ycsb(Field& field, const Stock& stock)
      : field_(field), stock_(stock), popularity_(stock.count, std::min(kMaxDraws, 4 * stock.count + 1000)) {}

  void run(const Mix& mix, std::uint64_t threads) {
    const char* row = threads == 1 ? mix.row : mix.row_of_two;
    if (!field_.wants({row})) return;
    const std::uint64_t most = mix.scans > 0 ? kMaxOperations / 10 : kMaxOperations;
    const std::uint64_t operations = std::min(stock_.count, most);
    field_.alternate([&](Contestant& contestant, std::uint64_t round) {
      std::vector<Client> clients;
      for (std::uint64_t t = 0; t < threads; ++t) {
        clients.emplace_back(contestant, stock_, popularity_, fresh_numbers(), round * threads + t);
      }
      const double seconds = seconds_of([&] {
        std::vector<std::thread> others;
        for (std::uint64_t t = 1; t < threads; ++t) others.emplace_back([&, t] { clients[t].run(mix, operations); });
        clients[0].run(mix, operations);
        for (std::thread& other : others) other.join();
      });
      const Outcome outcome = {seconds, operations * threads, operations * threads};
      field_.add(row, contestant, outcome.kops(), round, outcome.checksum);
    });
  }

 private:
  /// Even numbers behind all others, for the inserts of one client.
  std::uint64_t fresh_numbers() {
    const std::uint64_t first = 2 * (stock_.count + given_);
    given_ += kMaxOperations;
    return first;
  }

  Field& field_;
  const Stock& stock_;
  Popularity popularity_;
  std::uint64_t given_ = 0;
};

}  // namespace

void measure_ycsb(Field& field, const Stock& stock) {
  Ycsb ycsb(field, stock);
  for (const Mix& mix : kMixes) {
    for (const std::uint64_t threads : {1, 2}) ycsb.run(mix, threads);
  }
}

}  // namespace tamis::bench
