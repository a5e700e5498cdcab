// scalable: a chain of Bloom filters for a set of unknown size. When a layer is full, the next one takes twice the
// keys at half the rate, so that all layers together stay below twice the rate of the first.
//
// Body: a directory of kMaxLayers entries of 32 bytes, then the layers' bits in order:
//     8 bits of the layer, a multiple of 64     8 capacity in keys
//     8 keys it holds                           4 hashes, 4 zero
// Header: numbers[0] = layers; numbers[1] = how many times the keys of a layer the next one takes, numbers[2] = the
// most layers, 0 standing for 2 and 32; hashes = those of the first layer.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/check.h"
#include "base/try.h"
#include "filter/bit_array.h"
#include "filter/bloom.h"
#include "filter/filter_kind.h"
#include "filter/sizing.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxLayers = 32;
constexpr std::uint64_t kMaxGrowth = 64;
constexpr std::size_t kEntryBytes = 32;
constexpr std::size_t kDirectoryBytes = kMaxLayers * kEntryBytes;

struct Layer {
  std::uint64_t bits;
  std::uint64_t capacity;
  std::uint64_t keys;
  std::uint32_t hashes;
};

Layer load_layer(Bytes body, std::size_t i) {
  const std::byte* entry = body.data() + i * kEntryBytes;
  return {load_le<std::uint64_t>(entry), load_le<std::uint64_t>(entry + 8), load_le<std::uint64_t>(entry + 16),
          load_le<std::uint32_t>(entry + 24)};
}

void store_layer(MutableBytes body, std::size_t i, const Layer& layer) {
  std::byte* entry = body.data() + i * kEntryBytes;
  store_le(entry, layer.bits);
  store_le(entry + 8, layer.capacity);
  store_le(entry + 16, layer.keys);
  store_le(entry + 24, layer.hashes);
}

/// The body holds all that a probe needs; the layers are few and their entries stay in the cache.
struct ScalableState {
  const std::byte* body;
  std::size_t body_bytes;
  std::size_t layers;
};

/// Calls f(layer, its bits) from the newest layer, which holds the most keys, to the oldest, until it returns false.
template <typename Function>
bool each_layer(const ScalableState& state, Function f) {
  const Bytes body(state.body, state.body_bytes);
  std::size_t end = body.size();
  for (std::size_t i = state.layers; i-- > 0;) {
    const Layer layer = load_layer(body, i);
    end -= layer.bits / 8;
    if (!f(layer, body.data() + end)) return false;
  }
  return true;
}

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  return !each_layer(probe_state<ScalableState>(probe), [&](const Layer& layer, const std::byte* bits) {
    return !test_bloom_bits(bits, layer.bits, layer.hashes, hash);
  });
}

void prefetch(const FilterProbe& probe, std::uint64_t hash) {
  each_layer(probe_state<ScalableState>(probe), [&](const Layer& layer, const std::byte* bits) {
    prefetch_bloom_cells(bits, layer.bits, layer.hashes, hash);
    return true;
  });
}

std::uint64_t growth_of(const FilterHeader& header) { return header.numbers[1] == 0 ? 2 : header.numbers[1]; }

std::uint64_t most_layers(const FilterHeader& header) {
  return header.numbers[2] == 0 ? kMaxLayers : header.numbers[2];
}

/// Appends a layer; the bytes move.
Status append_layer(FilterImage& image, const Layer& layer) {
  const std::size_t layers = image.header.numbers[0];
  if (layers >= most_layers(image.header))
    return Status::out_of_space("the scalable filter cannot grow further; build a new one");
  const std::uint64_t bytes = image.body().size() + layer.bits / 8;
  TAMIS_TRY(FilterImage larger, FilterImage::with_body(bytes));
  std::copy(image.body().begin(), image.body().end(), larger.mutable_body().begin());
  larger.header = image.header;
  larger.header.numbers[0] = layers + 1;
  store_layer(larger.mutable_body(), layers, layer);
  image = std::move(larger);
  return {};
}

/// The capacity is the number of keys its bits were sized for: with more, a layer would exceed its rate.
Layer first_layer(const FilterSize& shape) {
  return {.bits = 8 * (shape.bytes - kDirectoryBytes),
          .capacity = std::max<std::uint64_t>(shape.keys, 1),
          .keys = 0,
          .hashes = shape.hashes};
}

/// `growth` times the keys at half the rate. A layer with more keys than bits tells nothing; bytes from elsewhere may
/// claim any number, and must not make the next one that large.
Layer next_layer(const Layer& last, std::uint64_t growth) {
  const double rate =
      filter_math::bloom_rate(static_cast<double>(last.bits), last.hashes, static_cast<double>(last.capacity));
  const std::uint64_t capacity = growth * std::min(last.capacity, last.bits);
  const BloomShape shape = bloom_shape_for_rate(capacity, std::clamp(rate / 2, 1e-18, 0.5));
  return {.bits = shape.cells, .capacity = capacity, .keys = 0, .hashes = shape.hashes};
}

Result<FilterSize> size(std::uint64_t keys, SizeTarget target) {
  if (target.measure == SizeTarget::Measure::kMemory) {
    target.value -= double{kDirectoryBytes};
    if (target.value < 8) return cannot_reach("scalable", target, "bloom");
  }
  // The first layer gets half of the rate, all later ones share the other half.
  if (target.measure == SizeTarget::Measure::kRate) target.value = target.value / 2;
  TAMIS_TRY(const BloomShape shape, bloom_shape("scalable", keys, target, 1));
  return FilterSize{
      .keys = keys, .bytes = kDirectoryBytes + shape.cells / 8, .hashes = shape.hashes, .rate = shape.rate};
}

/// A filter of a million keys with a first layer for one would have 20 layers.
std::uint64_t room(std::uint64_t capacity) { return std::max<std::uint64_t>(capacity, 64); }

Result<FilterImage> make(const FilterSize& shape) {
  TAMIS_TRY(FilterImage image, FilterImage::with_body(kDirectoryBytes, shape.hashes));
  TAMIS_TRY_STATUS(append_layer(image, first_layer(shape)));
  return image;
}

Status tune(FilterImage& image, const FilterOptions& options) {
  const auto in = [](std::optional<std::uint32_t> value, std::uint64_t most) {
    return !value || (*value >= 1 && *value <= most);
  };
  if (!in(options.growth, kMaxGrowth) || !in(options.most_layers, kMaxLayers)) {
    return Status::invalid_argument(
        fmt::format("a scalable filter grows by 1 to {} times and has 1 to {} layers", kMaxGrowth, kMaxLayers));
  }
  image.header.numbers[1] = options.growth.value_or(0);
  image.header.numbers[2] = options.most_layers.value_or(0);
  return {};
}

Status add(FilterImage& image, std::uint64_t hash) {
  std::size_t last = image.header.numbers[0] - 1;
  Layer layer = load_layer(image.body(), last);
  if (layer.keys >= layer.capacity) {
    layer = next_layer(layer, growth_of(image.header));
    TAMIS_TRY_STATUS(append_layer(image, layer));
    ++last;
  }
  const MutableBytes body = image.mutable_body();
  ++layer.keys;
  store_layer(body, last, layer);
  set_bloom_bits(body.data() + body.size() - layer.bits / 8, layer.bits, layer.hashes, hash);
  return {};
}

void clear(FilterImage& image) {
  Layer layer = load_layer(image.body(), 0);
  layer.keys = 0;
  Result<FilterImage> fresh = FilterImage::with_body(kDirectoryBytes);
  TAMIS_CHECK(fresh.ok());
  fresh->header = image.header;
  fresh->header.numbers[0] = 0;
  TAMIS_CHECK(append_layer(*fresh, layer).ok());
  image = *std::move(fresh);
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  const std::uint64_t layers = header.numbers[0];
  const auto refuse = [&](std::string_view why) {
    return Status::corruption(fmt::format("{}: scalable: {} layers in {} bytes: {}", name, layers, body.size(), why));
  };
  if (layers == 0 || layers > kMaxLayers || body.size() < kDirectoryBytes) return refuse("too few bytes or layers");
  if (growth_of(header) > kMaxGrowth || most_layers(header) > kMaxLayers) return refuse("it grows without bound");
  std::uint64_t left = body.size() - kDirectoryBytes;
  for (std::size_t i = 0; i < layers; ++i) {
    const Layer layer = load_layer(body, i);
    if (layer.bits == 0 || layer.bits % 64 != 0 || layer.bits / 8 > left)
      return refuse("a layer is larger than the body");
    if (layer.hashes == 0 || layer.hashes > kMaxBloomHashes)
      return refuse("a layer has an impossible number of hashes");
    if (layer.capacity == 0 || layer.capacity > std::uint64_t{1} << 48)
      return refuse("a layer has an impossible capacity");
    left -= layer.bits / 8;
  }
  if (left != 0) return refuse("the layers do not fill the body");
  FilterProbe probe;
  set_probe_functions<may_contain, prefetch>(probe);
  probe_state<ScalableState>(probe) = {body.data(), body.size(), static_cast<std::size_t>(layers)};
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  FilterEstimate all;
  double none = 1;
  double set_bits = 0;
  double bits = 0;
  const ScalableState state = {image.body().data(), image.body().size(), image.header.numbers[0]};
  each_layer(state, [&](const Layer& layer, const std::byte* at) {
    const auto layer_bits = static_cast<double>(layer.bits);
    const auto set = static_cast<double>(count_set_bits({at, static_cast<std::size_t>(layer.bits / 8)}));
    none *= 1 - std::pow(set / layer_bits, layer.hashes);
    all.keys += filter_math::bloom_keys_from_fill(layer_bits, layer.hashes, set);
    set_bits += set;
    bits += layer_bits;
    return true;
  });
  all.fill = set_bits / bits;
  all.rate = 1 - none;
  return all;
}

}  // namespace

constinit const FilterKind kScalableKind = {
    .info = {.id = 8,
             .name = "scalable",
             .summary = "sets of unknown size: grows by layers, the rate stays below the target",
             .adds = true},
    .size = size,
    .build = build_by_adding<make, add>,
    .open = open,
    .estimate = estimate,
    .make = make,
    .add = add,
    .clear = clear,
    .tune = tune,
    .grows = true,
    .room = room,
};

}  // namespace tamis
