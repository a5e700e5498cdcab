#include "filter/ribbon_build.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "filter/sizing.h"

namespace tamis {
namespace {

// Up to this many keys beyond the first layer, two sizes are tried for the rest and the smaller result is kept. Whole
// blocks are coarse then: without it 10,000 keys take up to 0.8 % more.
constexpr std::size_t kTrySizesKeys = 4096;

double root(std::uint64_t keys) { return std::sqrt(static_cast<double>(keys)); }

/// Fewer starts than keys, so that nearly every row is taken and the excess goes on to the next layer: 2 % fewer, which
/// balances rows lost (0.4 %) against second lookups (2.4 %), and in small filters fewer still, because what is lost at
/// the ends of a layer does not shrink with it. The smallest do better with the small buckets of the second layer
/// alone.
std::uint64_t first_layer_starts(std::uint64_t keys, std::uint64_t most_blocks) {
  constexpr std::uint64_t kFewKeys = 512;
  if (keys < kFewKeys || most_blocks < 2) return 0;
  const double starts = 0.98 * static_cast<double>(keys) - 3 * root(keys);
  return std::min(static_cast<std::uint64_t>(starts), kRibbonBlockRows * (most_blocks - 1));
}

/// More blocks than a build has use for unless its keys were crafted to crowd.
std::uint64_t most_blocks_for(std::uint64_t keys) {
  const double rows = 1.006 * static_cast<double>(keys) + 1.5 * root(keys);
  return static_cast<std::uint64_t>(rows) / kRibbonBlockRows + 2;
}

/// The most blocks that fit into `bytes` together with their marks.
std::uint64_t blocks_within(std::uint64_t bytes, std::uint32_t columns) {
  const std::uint64_t bits = 8 * bytes;
  constexpr std::uint64_t kSpareMarkBits = 64;    // Buckets that are not full, and the last word.
  constexpr std::uint64_t kMarkBitsPerBlock = 4;  // In the layers of small buckets, the dearest.
  if (bits <= kSpareMarkBits) return 0;
  return (bits - kSpareMarkBits) / (kRibbonBlockRows * columns + kMarkBitsPerBlock);
}

/// One build. The layers are added one after the other to one band of rows: a layer's starts follow those of the layer
/// before, and its first rows are shared with the last keys of that one. So only the very last rows, where no key
/// starts, could stay empty for lack of keys, however many layers there are.
class RibbonBuild {
 public:
  RibbonBuild(std::uint64_t keys, std::uint32_t columns, std::uint64_t most_bytes)
      : most_bytes_(most_bytes), most_blocks_(std::min(blocks_within(most_bytes, columns), most_blocks_for(keys))) {
    shape_.columns = columns;
    shape_.starts[0] = first_layer_starts(keys, most_blocks_);
  }

  Result<FilterImage> run(std::span<std::uint64_t> hashes) {
    order_for_ribbon_layer(hashes, shape_, 0);  // First, so that its copy is gone when the band comes.
    std::optional<RibbonBand> band = RibbonBand::with_rows(most_blocks_ * kRibbonBlockRows);
    if (!band) return no_memory_for(most_bytes_);
    band_ = &*band;
    marks_.resize(shape_.mark_bytes());
    band_ribbon_layer(*band_, hashes, shape_, 0, marks_.data(), beyond_first_);
    add_rest();
    std::optional<FilterImage> image = FilterImage::with_body(shape_.body_bytes());
    if (!image) return no_memory_for(shape_.body_bytes());
    write(*image);
    return *std::move(image);
  }

 private:
  void add_rest();
  void add_rest_within(std::uint64_t blocks);
  void make_list(std::vector<std::uint64_t> keys);
  void write(FilterImage& image) const;

  const std::uint64_t most_bytes_;
  const std::uint64_t most_blocks_;
  RibbonShape shape_;
  RibbonBand* band_ = nullptr;
  std::vector<std::byte> marks_;
  std::vector<std::uint64_t> beyond_first_;  // Keys of the second layer.
  std::vector<std::uint64_t> list_;          // Fingerprints, ascending.
};

/// All that follows the first layer, in as many blocks as its keys fill.
void RibbonBuild::add_rest() {
  const std::uint64_t first_row = shape_.starts[0];
  const std::uint64_t shared_rows = std::min(kRibbonBlockRows, most_blocks_ * kRibbonBlockRows - first_row);
  const RibbonRows shared = band_->copy_rows(first_row, shared_rows);
  const std::vector<std::byte> first_marks = marks_;
  const double rows =
      static_cast<double>(first_row + shared.taken()) + 1.01 * static_cast<double>(beyond_first_.size());
  const auto blocks = static_cast<std::uint64_t>(rows) / kRibbonBlockRows;
  const auto start_again = [&](std::uint64_t with_blocks) {
    band_->clear_rows(first_row, most_blocks_ * kRibbonBlockRows);
    band_->put_rows(first_row, shared);
    marks_ = first_marks;
    add_rest_within(std::min(with_blocks, most_blocks_));
  };
  add_rest_within(std::min(blocks + 1, most_blocks_));
  if (beyond_first_.size() > kTrySizesKeys) return;
  const std::uint64_t larger_bytes = shape_.body_bytes();
  start_again(blocks);
  if (shape_.body_bytes() > larger_bytes) start_again(blocks + 1);
}

/// The last layer has the starts that the others leave: it is rarely full.
void RibbonBuild::add_rest_within(std::uint64_t blocks) {
  constexpr double kSecondLayerStarts = 0.97;  // Per key.
  constexpr std::uint64_t kFewStarts = 24;     // Not worth a layer.
  const std::uint64_t all_starts = blocks == 0 ? 0 : kRibbonBlockRows * (blocks - 1);
  const std::uint64_t left = all_starts - std::min(all_starts, shape_.starts[0]);
  shape_.starts[1] =
      std::min(left, static_cast<std::uint64_t>(kSecondLayerStarts * static_cast<double>(beyond_first_.size())));
  if (left - shape_.starts[1] < kFewStarts) shape_.starts[1] = left;
  shape_.starts[2] = left - shape_.starts[1];
  marks_.resize(shape_.mark_bytes());
  std::vector<std::uint64_t> beyond_second;
  std::vector<std::uint64_t> beyond_all;
  order_for_ribbon_layer(beyond_first_, shape_, 1);
  band_ribbon_layer(*band_, beyond_first_, shape_, 1, marks_.data(), beyond_second);
  order_for_ribbon_layer(beyond_second, shape_, 2);
  band_ribbon_layer(*band_, beyond_second, shape_, 2, marks_.data(), beyond_all);
  make_list(std::move(beyond_all));
}

/// As few bits as let the list be wrong no more often than the rows are, or, where that is fewer, as add at most 1/256
/// to the rate of all. But no more than there is room for: keys crafted to crowd in every layer get shorter
/// fingerprints, in the end none, which makes the list say "maybe" to the few it is asked about.
void RibbonBuild::make_list(std::vector<std::uint64_t> keys) {
  for (std::uint64_t& key : keys) key = ribbon_mix(key);
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  shape_.list_entries = shape_.list_bits = 0;
  list_ = std::move(keys);
  if (list_.empty()) return;
  int magnitude = 0;
  const double share = std::min(1.0, 256 * ribbon_reach(shape_, marks_.data()));
  (void)std::frexp(static_cast<double>(list_.size()) * share, &magnitude);
  const int wanted = std::clamp(static_cast<int>(shape_.columns) + magnitude, 1, int{kRibbonMostListBits});
  const std::uint64_t room = 8 * (most_bytes_ - std::min(most_bytes_, shape_.body_bytes()));
  shape_.list_bits =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), room / list_.size()));
  for (std::uint64_t& entry : list_) entry = ribbon_list_fingerprint(entry, shape_.list_bits);
  list_.erase(std::unique(list_.begin(), list_.end()), list_.end());
  shape_.list_entries = list_.size();
}

void RibbonBuild::write(FilterImage& image) const {
  image.header.hashes = shape_.columns;
  std::copy(shape_.starts.begin(), shape_.starts.end(), image.header.numbers.begin());
  image.header.numbers[3] = shape_.list_entries | std::uint64_t{shape_.list_bits} << kRibbonListBitsShift;
  const MutableBytes body = image.mutable_body();
  solve_ribbon(*band_, shape_.blocks(), shape_.columns, body.data());
  std::copy_n(marks_.begin(), shape_.mark_bytes(), body.begin() + static_cast<std::ptrdiff_t>(shape_.block_bytes()));
  const MutableBytes list = body.last(shape_.list_bytes());
  for (std::size_t i = 0; i < list_.size(); ++i) write_ribbon_list_entry(list, i, shape_.list_bits, list_[i]);
}

}  // namespace

std::uint64_t most_ribbon_bytes(std::uint64_t keys, std::uint32_t columns) {
  if (keys == 0) return 0;
  const std::uint64_t blocks = most_blocks_for(keys);
  const std::uint64_t first_starts = first_layer_starts(keys, blocks);
  RibbonShape shape = {.columns = columns, .starts = {first_starts, kRibbonBlockRows * (blocks - 1) - first_starts, 0}};
  // Few keys are left for the list; this is room for them all when they are few and for a share that never came up.
  shape.list_entries = static_cast<std::uint64_t>(8 + root(keys) / 4);
  shape.list_bits = columns + 16;
  return shape.body_bytes();
}

Result<FilterImage> build_ribbon(std::span<std::uint64_t> hashes, std::uint32_t columns, std::uint64_t most_bytes) {
  return RibbonBuild(hashes.size(), columns, most_bytes).run(hashes);
}

}  // namespace tamis
