#include "engine/resident_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tamis {
namespace {

constexpr int kBisections = 64;

/// The reads that each byte saves.
double gain_per_byte(const Resident& resident, std::uint64_t from, std::uint64_t to) {
  const double saved = resident.reads_with(from) - resident.reads_with(to);
  const std::uint64_t bytes = resident.bytes_with(to) - resident.bytes_with(from);
  return saved / static_cast<double>(std::max<std::uint64_t>(bytes, 1));
}

/// The columns that come together: the first one also brings what is there with any, so a byte of it may save less than
/// one of the next.
std::uint64_t first_step(const Resident& resident) {
  std::uint64_t best = std::min<std::uint64_t>(resident.columns, 1);
  for (std::uint64_t columns = 2; columns <= resident.columns; ++columns) {
    if (gain_per_byte(resident, 0, columns) <= gain_per_byte(resident, 0, best)) break;
    best = columns;
  }
  return best;
}

/// All columns that save at least this much per byte.
std::uint64_t columns_worth(const Resident& resident, double gain) {
  std::uint64_t columns = first_step(resident);
  if (columns == 0 || gain_per_byte(resident, 0, columns) < gain) return 0;
  while (columns < resident.columns && gain_per_byte(resident, columns, columns + 1) >= gain) ++columns;
  return columns;
}

std::uint64_t bytes_at(std::span<const Resident> residents, double gain) {
  std::uint64_t bytes = 0;
  for (const Resident& resident : residents) bytes += resident.bytes_with(columns_worth(resident, gain));
  return bytes;
}

/// The smallest gain at which everything that saves as much fits.
double marginal_gain(std::span<const Resident> residents, std::uint64_t limit_bytes) {
  double highest = 0;
  for (const Resident& resident : residents) {
    highest = std::max(highest, gain_per_byte(resident, 0, first_step(resident)));
  }
  if (highest == 0) return std::numeric_limits<double>::infinity();
  double high = std::log2(highest) + 1;  // Nothing saves that much.
  double low = high - 128;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (bytes_at(residents, std::exp2(middle)) <= limit_bytes ? high : low) = middle;
  }
  return std::exp2(high);
}

/// Where the next column does not fit, that of another may.
void fill_rest(std::span<const Resident> residents, std::uint64_t limit_bytes, ResidentPlan& plan) {
  std::vector<std::size_t> order(residents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto next_of = [&](std::size_t i) {
    return plan.columns[i] == 0 ? first_step(residents[i]) : plan.columns[i] + 1;
  };
  std::vector<double> gains(residents.size());
  for (const std::size_t i : order) {
    const bool has_more = plan.columns[i] < residents[i].columns;
    gains[i] = has_more ? gain_per_byte(residents[i], plan.columns[i], next_of(i)) : -1;
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
  for (const std::size_t i : order) {
    if (gains[i] < 0) break;
    const std::uint64_t next = next_of(i);
    const std::uint64_t more = residents[i].bytes_with(next) - residents[i].bytes_with(plan.columns[i]);
    if (plan.bytes + more > limit_bytes) continue;
    plan.columns[i] = next;
    plan.bytes += more;
  }
}

}  // namespace

ResidentPlan plan_residents(std::span<const Resident> residents, std::uint64_t limit_bytes) {
  ResidentPlan plan;
  plan.columns.reserve(residents.size());
  for (const Resident& resident : residents) {
    plan.columns.push_back(resident.columns);
    plan.bytes += resident.bytes_with(resident.columns);
  }
  if (plan.bytes > limit_bytes) {
    const double gain = marginal_gain(residents, limit_bytes);
    plan.bytes = 0;
    for (std::size_t i = 0; i < residents.size(); ++i) {
      plan.columns[i] = columns_worth(residents[i], gain);
      plan.bytes += residents[i].bytes_with(plan.columns[i]);
    }
    fill_rest(residents, limit_bytes, plan);
  }
  for (std::size_t i = 0; i < residents.size(); ++i) plan.reads += residents[i].reads_with(plan.columns[i]);
  return plan;
}

}  // namespace tamis
