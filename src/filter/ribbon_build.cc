#include "filter/ribbon_build.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/try.h"

namespace tamis {
namespace {

double root(std::uint64_t keys) { return std::sqrt(static_cast<double>(keys)); }

/// With fewer keys, the first layer has too few buckets: losing one costs more than small buckets do.
constexpr std::uint64_t kFirstLayerKeys = 1000;

/// Fewer starts than keys, so that nearly every row is taken and the excess is bumped. Small filters have fewer still,
/// because the loss at the ends of a layer does not shrink with it. The last block, which is cut short and slower to
/// read, is left to the other layers.
std::uint64_t first_layer_starts(std::uint64_t keys, const RibbonPlan& plan) {
  if (keys < kFirstLayerKeys) return 0;
  return static_cast<std::uint64_t>(std::min(plan.starts_per_key * static_cast<double>(keys) - 4 * root(keys),
                                             static_cast<double>(keys - 2 * kRibbonBlockRows)));
}

/// A max that only crafted keys reach: the highest seen in thousands of sets at each of many sizes, plus a margin. None
/// for tiny sets, which are a list.
std::uint64_t most_rows_for(std::uint64_t keys) {
  if (keys < kRibbonBlockRows) return 0;
  return static_cast<std::uint64_t>(1.0045 * static_cast<double>(keys) + root(keys) / 2) + kRibbonBlockRows / 2;
}

/// Bits for a list as accurate as the rows when `entries` of its entries are compared: columns + ⌈log2⌉.
std::uint32_t list_bits_for(std::uint32_t columns, double entries) {
  int exponent = 0;
  if (std::frexp(entries, &exponent) == 0.5) --exponent;  // ⌈log2⌉ of a power of 2 is one less.
  return static_cast<std::uint32_t>(std::clamp(static_cast<int>(columns) + exponent, 1, int{kRibbonMostListBits}));
}

/// One build. The layers are added in order to one band of rows: a layer's starts follow those of the previous layer,
/// whose last keys share its first rows. So only the very last rows, where no key starts, can stay empty for lack of
/// keys, whatever the number of layers.
class RibbonBuild {
 public:
  RibbonBuild(std::uint64_t keys, const RibbonPlan& plan, std::uint64_t most_bytes)
      : most_bytes_(most_bytes),
        most_rows_(most_rows_for(keys)),
        first_columns_(plan.first_columns == 0 ? plan.columns : plan.first_columns) {
    shape_.columns = plan.columns;
    shape_.starts[0] = first_layer_starts(keys, plan);
  }

  Result<RibbonSystem> run(std::span<std::uint64_t> hashes) {
    order_for_ribbon_layer(hashes, shape_, 0);  // First, so that its copy is freed before the band is allocated.
    std::optional<RibbonBand> band = RibbonBand::with_rows(most_rows_ + kRibbonBlockRows);
    if (!band) return no_memory_for(most_bytes_);
    band_ = &*band;
    marks_.resize(shape_.mark_bytes());
    band_ribbon_layer(*band_, hashes, shape_, 0, marks_.data(), beyond_first_);
    add_rest();
    marks_.resize(shape_.mark_bytes());
    return RibbonSystem{
        .shape = shape_, .band = *std::move(band), .marks = std::move(marks_), .list = std::move(list_)};
  }

 private:
  void add_rest();
  std::uint64_t add_rest_with(std::uint64_t spare_rows);
  std::uint64_t make_list(std::vector<std::uint64_t> keys);

  const std::uint64_t most_bytes_;
  const std::uint64_t most_rows_;
  const std::uint32_t first_columns_;
  RibbonShape shape_;
  RibbonBand* band_ = nullptr;
  std::vector<std::byte> marks_;
  std::vector<std::uint64_t> beyond_first_;  // Keys of the second layer.
  std::vector<std::uint64_t> list_;          // Fingerprints, ascending.
};

/// Adds everything after the first layer, in about as many rows as its keys fill. A few rows more or less decide how
/// many keys are left for the list, unpredictably; with few keys, it is worth trying several.
void RibbonBuild::add_rest() {
  constexpr std::array<std::uint64_t, 4> kSpareRows = {0, 8, 16, 24};
  constexpr std::size_t kFewKeys = 1024;
  if (beyond_first_.size() > kFewKeys) {
    add_rest_with(kSpareRows[1]);
    return;
  }
  const RibbonRows shared = band_->copy_rows(shape_.starts[0], kRibbonBlockRows);
  const std::vector<std::byte> first_marks = marks_;
  const auto try_with = [&](std::uint64_t spare_rows) {
    band_->replace_rows(shape_.starts[0], shared);
    marks_ = first_marks;
    return add_rest_with(spare_rows);
  };
  std::uint64_t best = 0;
  std::uint64_t latest = 0;
  std::uint64_t least_bytes = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t spare_rows : kSpareRows) {
    const std::uint64_t bytes = try_with(latest = spare_rows);
    if (bytes < least_bytes) {
      best = spare_rows;
      least_bytes = bytes;
    }
    if (list_.empty()) break;  // More rows would only stay empty.
  }
  if (latest != best) try_with(best);
}

/// The last layer gets the starts that the second leaves: it is rarely full. Returns the result of `make_list`.
std::uint64_t RibbonBuild::add_rest_with(std::uint64_t spare_rows) {
  constexpr double kSecondLayerStarts = 0.9;  // Per key.
  constexpr std::uint64_t kFewStarts = 24;    // Not worth a layer.
  const std::uint64_t shared_rows = band_->taken(shape_.starts[0], kRibbonBlockRows);
  const std::uint64_t rows = std::min(shape_.starts[0] + shared_rows + beyond_first_.size() + spare_rows, most_rows_);
  const std::uint64_t all_starts = std::max(rows, kRibbonBlockRows) - kRibbonBlockRows;
  const std::uint64_t left = all_starts - std::min(all_starts, shape_.starts[0]);
  shape_.starts[1] =
      std::min(left, static_cast<std::uint64_t>(kSecondLayerStarts * static_cast<double>(beyond_first_.size())));
  if (left - shape_.starts[1] < kFewStarts) shape_.starts[1] = left;
  shape_.starts[2] = left - shape_.starts[1];
  shape_.list_entries = shape_.list_bits = 0;
  marks_.resize(shape_.mark_bytes());
  std::vector<std::uint64_t> beyond_second;
  std::vector<std::uint64_t> beyond_all;
  order_for_ribbon_layer(beyond_first_, shape_, 1);
  band_ribbon_layer(*band_, beyond_first_, shape_, 1, marks_.data(), beyond_second);
  order_for_ribbon_layer(beyond_second, shape_, 2);
  band_ribbon_layer(*band_, beyond_second, shape_, 2, marks_.data(), beyond_all);
  return make_list(std::move(beyond_all));
}

/// Chooses the fewest bits with which the list is as accurate as the rows or, if fewer, adds at most 1/1024 to the
/// overall rate. The space limits them: keys crafted to collide in every layer get shorter fingerprints and eventually
/// none; the list then answers "maybe" to its few queries. Returns the size of the filter, or of its first columns,
/// without that limit.
std::uint64_t RibbonBuild::make_list(std::vector<std::uint64_t> keys) {
  for (std::uint64_t& key : keys) key = ribbon_mix(key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  list_ = std::move(keys);
  const std::uint64_t bytes_before = shape_.body_bytes();
  const std::uint64_t first_bytes = shape_.rows() / 8 * first_columns_ + shape_.mark_bytes();
  if (list_.empty()) return first_bytes;
  const double share = std::min(1.0, 1024 * ribbon_reach(shape_, marks_.data()));
  const std::uint64_t wanted = list_bits_for(shape_.columns, static_cast<double>(list_.size()) * share);
  const std::uint64_t bytes = first_bytes + (list_.size() * wanted + 7) / 8;
  const std::uint64_t room = 8 * (most_bytes_ - std::min(most_bytes_, bytes_before));
  shape_.list_bits = static_cast<std::uint32_t>(std::min(wanted, room / list_.size()));
  for (std::uint64_t& entry : list_) entry = ribbon_list_fingerprint(entry, shape_.list_bits);
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  shape_.list_entries = list_.size();
  return bytes;
}

}  // namespace

std::uint64_t most_ribbon_bytes(std::uint64_t keys, const RibbonPlan& plan) {
  const std::uint32_t columns = plan.columns;
  const std::uint64_t listed = std::min(keys, kRibbonBlockRows - 1);
  const RibbonShape only_list = {
      .columns = columns, .list_entries = listed, .list_bits = list_bits_for(columns, static_cast<double>(listed))};
  if (keys < kRibbonBlockRows) return only_list.body_bytes();
  const std::uint64_t starts = most_rows_for(keys) - (kRibbonBlockRows - 1);
  // Assumes more small buckets than there are, and at least a list, so that fewer keys never need more bytes.
  const std::uint64_t expected_starts = first_layer_starts(keys, plan);
  const std::uint64_t first_starts = expected_starts - std::min(expected_starts, 2 * kFirstLayerKeys);
  RibbonShape shape = {.columns = columns, .starts = {first_starts, starts - first_starts, 0}};
  // Space for some entries; beyond that, fingerprints get shorter.
  shape.list_entries = static_cast<std::uint64_t>(8 + root(keys) / 8);
  shape.list_bits = columns + 8;
  return std::max(shape.body_bytes(), only_list.body_bytes());
}

std::uint64_t least_ribbon_rows(std::uint64_t keys, const RibbonPlan& plan) { return first_layer_starts(keys, plan); }

double planned_ribbon_rate(std::uint64_t keys, std::uint32_t columns) {
  if (keys >= kRibbonBlockRows) return std::ldexp(1.0, -static_cast<int>(columns));
  return std::ldexp(static_cast<double>(keys), -static_cast<int>(list_bits_for(columns, static_cast<double>(keys))));
}

Result<RibbonSystem> make_ribbon_system(std::span<std::uint64_t> hashes, const RibbonPlan& plan,
                                        std::uint64_t most_bytes) {
  TAMIS_CHECK(most_bytes >= most_ribbon_bytes(hashes.size(), plan));
  return RibbonBuild(hashes.size(), plan, most_bytes).run(hashes);
}

void RibbonSystem::write_marks_and_list(MutableBytes out) const {
  std::copy(marks.begin(), marks.end(), out.begin());
  const MutableBytes to = out.subspan(marks.size());
  for (std::size_t i = 0; i < list.size(); ++i) write_ribbon_list_entry(to, i, shape.list_bits, list[i]);
}

}  // namespace tamis
