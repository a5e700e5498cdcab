#include "filter/sizing.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "base/check.h"
#include "base/nearest_word.h"
#include "base/try.h"

namespace tamis {
namespace {

Status check_target(SizeTarget target) {
  const double value = target.value;
  switch (target.measure) {
    case SizeTarget::Measure::kRate:
      if (value > 0 && value < 1) return {};
      return Status::invalid_argument(
          fmt::format("the false-positive rate must be between 0 and 1 (exclusive), not {}", value));
    case SizeTarget::Measure::kBitsPerKey:
      if (value > 0 && value <= 1024) return {};
      return Status::invalid_argument(fmt::format("bits per key must be above 0 and at most 1024, not {}", value));
    case SizeTarget::Measure::kMemory:
      if (value >= 1 && value <= 0x1p48) return {};
      return Status::invalid_argument(fmt::format("memory must be between 1 byte and 256 TiB, not {}", value));
  }
  return Status::invalid_argument("unknown measure");
}

bool list_serves(const FilterSize& list, const Result<FilterSize>& own, SizeTarget target) {
  if (list.keys == 0) return true;
  switch (target.measure) {
    case SizeTarget::Measure::kRate: return list.rate <= target.value && (!own.ok() || list.bytes <= own->bytes);
    case SizeTarget::Measure::kMemory:
      if (static_cast<double>(list.bytes) > target.value) return false;
      break;
    case SizeTarget::Measure::kBitsPerKey: break;
  }
  return own.ok() && list.bytes <= own->bytes && list.rate <= own->rate;
}

/// Checks the target, and takes the header from a memory.
Result<SizeTarget> target_of_body(std::uint64_t keys, SizeTarget target) {
  TAMIS_TRY_STATUS(check_target(target));
  constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 42;
  if (keys > kMaxKeys)
    return Status::invalid_argument(fmt::format("{} keys exceed the max of {} keys in a filter", keys, kMaxKeys));
  if (target.measure == SizeTarget::Measure::kMemory) {
    if (target.value < static_cast<double>(kFilterHeaderBytes)) {
      return Status::not_supported(
          fmt::format("{} bytes cannot hold a filter's header ({})", target.value, kFilterHeaderBytes));
    }
    target.value -= static_cast<double>(kFilterHeaderBytes);
  }
  return target;
}

}  // namespace

Result<const FilterKind*> need_filter_kind(std::string_view name) {
  const FilterKind* kind = find_filter_kind(name);
  if (kind != nullptr) return kind;
  std::vector<std::string_view> names;
  for (const FilterKind* known : all_filter_kinds()) names.push_back(known->info.name);
  const std::optional<std::string_view> guess = nearest_word(name, names);
  return Status::invalid_argument(
      guess ? fmt::format("unknown filter kind '{}'; did you mean '{}'?", name, *guess)
            : fmt::format("unknown filter kind '{}'; the kinds are {}", name, fmt::join(names, ", ")));
}

Result<SizeTarget> size_target(const FilterOptions& options) {
  const int given = int{options.target_rate.has_value()} + int{options.bits_per_key.has_value()} +
                    int{options.memory_bytes.has_value()};
  if (given > 1) {
    return Status::invalid_argument("give only one of target rate, bits per key and memory");
  }
  SizeTarget target;
  if (options.target_rate) target = {SizeTarget::Measure::kRate, *options.target_rate};
  if (options.bits_per_key) target = {SizeTarget::Measure::kBitsPerKey, *options.bits_per_key};
  if (options.memory_bytes) target = {SizeTarget::Measure::kMemory, static_cast<double>(*options.memory_bytes)};
  TAMIS_TRY_STATUS(check_target(target));
  return target;
}

Result<ChosenSize> choose_size(const FilterKind& kind, std::uint64_t keys, SizeTarget whole) {
  TAMIS_TRY(const SizeTarget target, target_of_body(keys, whole));
  Result<FilterSize> own = kind.size(keys, target);
  if (kind.lists_few_keys && keys <= kTinySetKeys) {
    TAMIS_TRY(const FilterSize list, kTinySetKind.size(keys, target));
    if (list_serves(list, own, target)) return ChosenSize{list, FilterLayout::kList};
  }
  if (!own.ok()) return own.status();
  return ChosenSize{*own, FilterLayout::kOwn};
}

Result<FilterImage> make_empty_filter(const FilterKind& kind, const FilterOptions& options) {
  TAMIS_CHECK(kind.make != nullptr);
  if (options.capacity == 0 && !kind.grows) {
    return Status::invalid_argument(fmt::format(
        "a {} filter does not grow: set its capacity to the number of keys, or use growing, which does", options.kind));
  }
  TAMIS_TRY(const SizeTarget whole, size_target(options));
  const std::uint64_t keys = kind.room != nullptr ? kind.room(options.capacity) : options.capacity;
  TAMIS_TRY(const SizeTarget target, target_of_body(keys, whole));
  TAMIS_TRY(const FilterSize size, kind.size(keys, target));
  TAMIS_TRY(FilterImage image, kind.make(size));
  if (kind.tune != nullptr) {
    TAMIS_TRY_STATUS(kind.tune(image, options));
  } else if (options.growth || options.most_layers) {
    return Status::invalid_argument(
        fmt::format("growth and most_layers are options of scalable; a {} filter has neither", options.kind));
  }
  image.header.kind = kind.info.id;
  image.header.seed = options.seed;
  image.header.prefix_rule = options.prefix_rule;
  image.header.designed_rate = rate_in_header(size.rate);
  return image;
}

Result<FilterSize> filter_size(std::string_view kind_name, std::uint64_t keys, SizeTarget target) {
  TAMIS_TRY(const FilterKind* kind, need_filter_kind(kind_name));
  TAMIS_TRY(const ChosenSize chosen, choose_size(*kind, keys, target));
  return chosen.size;
}

Status cannot_reach(std::string_view kind, SizeTarget target, std::string_view instead) {
  switch (target.measure) {
    case SizeTarget::Measure::kRate:
      return Status::not_supported(fmt::format("{} cannot reach a rate of {}; {} can", kind, target.value, instead));
    case SizeTarget::Measure::kBitsPerKey:
      return Status::not_supported(
          fmt::format("{} cannot be built with {} bits per key; {} can", kind, target.value, instead));
    case SizeTarget::Measure::kMemory: break;
  }
  return Status::not_supported(fmt::format("{} cannot hold that many keys in {} bytes; {} may", kind,
                                           target.value + double{kFilterHeaderBytes}, instead));
}

}  // namespace tamis
