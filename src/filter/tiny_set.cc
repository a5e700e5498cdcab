// Tiny sets as a sorted list of 16-bit fingerprints: 16 bits per key for every kind, whose own layouts would take a
// cache line or more.
#include "filter/filter_kind.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/try.h"

namespace tamis {
namespace {

constexpr std::uint32_t kFingerprintBits = 16;

std::uint16_t fingerprint_of(std::uint64_t hash) { return static_cast<std::uint16_t>(remix(hash) >> 48); }

/// The whole list, inside the probe. Unused slots repeat the first fingerprint, so that the loop has a fixed length and
/// no branches.
struct TinySetState {
  std::array<std::uint16_t, kTinySetKeys> fingerprints;
};

bool may_contain(const FilterProbe& probe, std::uint64_t hash) {
  const TinySetState& state = probe_state<TinySetState>(probe);
  const std::uint16_t wanted = fingerprint_of(hash);
  std::uint16_t found = 0;
  for (const std::uint16_t one : state.fingerprints) found |= static_cast<std::uint16_t>(one == wanted);
  return found != 0;
}

bool contains_nothing(const FilterProbe&, std::uint64_t) { return false; }

void prefetch_nothing(const FilterProbe&, std::uint64_t) {}

double list_rate(double fingerprints) { return -std::expm1(fingerprints * std::log1p(-std::exp2(-16))); }

/// The same for every target.
Result<FilterSize> size(std::uint64_t keys, SizeTarget) {
  TAMIS_CHECK(keys <= kTinySetKeys);
  return FilterSize{
      .keys = keys, .bytes = 2 * keys, .hashes = kFingerprintBits, .rate = list_rate(static_cast<double>(keys))};
}

Result<FilterImage> build(std::span<std::uint64_t> hashes, const FilterSize&) {
  std::vector<std::uint16_t> list;
  for (const std::uint64_t hash : hashes) list.push_back(fingerprint_of(hash));
  list.resize(sort_and_drop_copies(std::span(list)).size());
  TAMIS_TRY(FilterImage image, FilterImage::with_body(2 * list.size()));
  std::byte* out = image.mutable_body().data();
  for (const std::uint16_t one : list) {
    store_le(out, one);
    out += 2;
  }
  image.header.layout = FilterLayout::kList;
  image.header.hashes = kFingerprintBits;
  return image;
}

Result<FilterProbe> open(const FilterHeader& header, Bytes body, std::string_view name) {
  if (body.size() % 2 != 0 || body.size() > 2 * kTinySetKeys || header.hashes != kFingerprintBits) {
    return Status::corruption(
        fmt::format("{}: a list of {}-bit fingerprints in {} bytes", name, header.hashes, body.size()));
  }
  FilterProbe probe;
  if (body.empty()) {
    set_probe_functions<contains_nothing, prefetch_nothing>(probe);
    return probe;
  }
  TinySetState& state = probe_state<TinySetState>(probe);
  for (std::size_t i = 0; i < state.fingerprints.size(); ++i) {
    const std::size_t at = 2 * i < body.size() ? 2 * i : 0;
    state.fingerprints[i] = load_le<std::uint16_t>(body.data() + at);
  }
  set_probe_functions<may_contain, prefetch_nothing>(probe);
  return probe;
}

FilterEstimate estimate(const FilterImage& image) {
  const double listed = static_cast<double>(image.body().size()) / 2;
  return {.fill = 1, .keys = static_cast<double>(image.header.keys), .rate = list_rate(listed)};
}

}  // namespace

constinit const FilterKind kTinySetKind = {
    .info = {}, .size = size, .build = build, .open = open, .estimate = estimate};

}  // namespace tamis
