#include <fmt/core.h>

#include <span>

#include "filter/formats/cassandra.h"

namespace tamis::foreign {
namespace {

/// Cassandra's rate table: for 2 … 20 bits per key, a row with the rates of 1, 2, 3, … hashes.
using Rates = std::span<const double>;
constexpr double kRates2[] = {.393, .400};
constexpr double kRates3[] = {.283, .237, .253};
constexpr double kRates4[] = {.221, .155, .147, .160};
constexpr double kRates5[] = {.181, .109, .092, .092, .101};
constexpr double kRates6[] = {.154, .0804, .0609, .0561, .0578, .0638};
constexpr double kRates7[] = {.133, .0618, .0423, .0359, .0347, .0364};
constexpr double kRates8[] = {.118, .0489, .0306, .024, .0217, .0216, .0229};
constexpr double kRates9[] = {.105, .0397, .0228, .0166, .0141, .0133, .0135, .0145};
constexpr double kRates10[] = {.0952, .0329, .0174, .0118, .00943, .00844, .00819, .00846};
constexpr double kRates11[] = {.0869, .0276, .0136, .00864, .0065, .00552, .00513, .00509};
constexpr double kRates12[] = {.08, .0236, .0108, .00646, .00459, .00371, .00329, .00314};
constexpr double kRates13[] = {.074, .0203, .00875, .00492, .00332, .00255, .00217, .00199, .00194};
constexpr double kRates14[] = {.0689, .0177, .00718, .00381, .00244, .00179, .00146, .00129, .00121, .0012};
constexpr double kRates15[] = {.0645, .0156, .00596, .003, .00183, .00128, .001, .000852, .000775, .000744};
constexpr double kRates16[] = {.0606, .0138, .005, .00239, .00139, .000935, .000702, .000574, .000505, .00047, .000459};
constexpr double kRates17[] = {.0571,   .0123,   .00423,  .00193,  .00107,  .000692,
                               .000499, .000394, .000335, .000302, .000287, .000284};
constexpr double kRates18[] = {.054,   .0111,   .00362,  .00158,  .000839, .000519,
                               .00036, .000275, .000226, .000198, .000183, .000176};
constexpr double kRates19[] = {.0513,   .00998,  .00312,  .0013,   .000663, .000394, .000264,
                               .000194, .000155, .000132, .000118, .000111, .000109};
constexpr double kRates20[] = {.0488,  .00906,  .0027,    .00108,   .00053,   .000303,  .000196,
                               .00014, .000108, 8.89e-05, 7.77e-05, 7.12e-05, 6.79e-05, 6.71e-05};
constexpr std::uint32_t kMinBits = 2;
constexpr Rates kRates[] = {kRates2,  kRates3,  kRates4,  kRates5,  kRates6,  kRates7,  kRates8,
                            kRates9,  kRates10, kRates11, kRates12, kRates13, kRates14, kRates15,
                            kRates16, kRates17, kRates18, kRates19, kRates20};

/// The rate of `hashes` hashes; 1 for none.
double rate_of(Rates row, std::uint32_t hashes) { return hashes == 0 ? 1.0 : row[hashes - 1]; }

/// The fewest hashes that reach the lowest rate of the row.
std::uint32_t best_hashes(Rates row) {
  std::uint32_t best = 1;
  for (std::uint32_t hashes = 2; hashes <= row.size(); ++hashes) {
    if (rate_of(row, hashes) < rate_of(row, best)) best = hashes;
  }
  return best;
}

}  // namespace

Result<CassandraSizing> cassandra_sizing(double rate) {
  // From here on, Cassandra returns its two results in the wrong order, and must keep doing so.
  if (rate >= kRates2[0]) return CassandraSizing{.hashes = 2, .bits_per_key = 1};
  for (std::uint32_t i = 0; i < std::size(kRates); ++i) {
    std::uint32_t hashes = best_hashes(kRates[i]);
    if (rate_of(kRates[i], hashes) > rate) continue;
    while (rate_of(kRates[i], hashes - 1) <= rate) --hashes;
    return CassandraSizing{hashes, kMinBits + i};
  }
  return Status::invalid_argument(
      fmt::format("Cassandra cannot satisfy a rate of {}; its table ends at {}", rate, kRates20[13]));
}

}  // namespace tamis::foreign
