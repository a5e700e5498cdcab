#include "store/latencies.h"

#include <array>
#include <utility>

namespace tamis::bench {

double percentile(const Latencies& sorted, double part) {
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(at, sorted.size() - 1)]) / 1e3;
}

void TimedGets::get_one() {
  const std::uint64_t number = 2 * random_.below(stock_.count);
  const KeyText key = stock_.data.key(number);
  const auto begin = Clock::now();
  const bool is_there = session_.get(key.view(), buffer_);
  latencies_.push_back(since(begin));
  if (!is_there || !stock_.data.belongs(number, buffer_)) stop("get: a value is not its key's");
}

void add_percentiles(Field& field, const Contestant& contestant, const std::string& what, Latencies latencies) {
  constexpr auto kParts =
      std::to_array<std::pair<const char*, double>>({{"_p50", 0.5}, {"_p99", 0.99}, {"_p999", 0.999}, {"_worst", 1}});
  std::ranges::sort(latencies);
  for (const auto& [name, part] : kParts) {
    if (is_row(what + name)) field.report().add(what + name, contestant.id(), percentile(latencies, part));
  }
}

}  // namespace tamis::bench
