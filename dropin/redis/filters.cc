#include "filters.h"

#include <algorithm>
#include <utility>

namespace tamis_redis {
namespace {

using tamis::FilterOptions;
using tamis::MutableFilter;

// Hashes have 64 bits: lower rates do not exist.
constexpr double kLeastRate = 1e-18;
// RedisBloom has no option for it. Its own filters, with one byte per item, have 1.6 % and more the more they grow.
constexpr double kCuckooRate = 0.01;

/// The capacity of the filter with this index: each has `expansion` times that of the one before.
std::uint64_t chained_capacity(const Shape& shape, std::size_t index) {
  std::uint64_t capacity = shape.capacity;
  if (shape.expansion == 1) return capacity;
  for (; index > 0 && capacity < kMostCapacity; --index) capacity *= shape.expansion;
  return std::min(capacity, kMostCapacity);
}

/// The first of a chain has half of the rate, each further one half of that before: together less than the whole.
FilterOptions bloom_options(const Shape& shape, std::size_t index) {
  double rate = shape.error_rate;
  if (shape.expansion > 0) {
    for (std::size_t i = 0; i <= index && rate > kLeastRate; ++i) rate /= 2;
  }
  return {.kind = "bloom", .target_rate = std::max(rate, kLeastRate), .capacity = chained_capacity(shape, index)};
}

FilterOptions cuckoo_options(const Shape& shape) {
  return {.kind = shape.expansion > 0 ? "growing" : "cuckoo", .target_rate = kCuckooRate, .capacity = shape.capacity};
}

FilterOptions options_of(const Value& value, std::size_t index) {
  return value.sort == Sort::kBloom ? bloom_options(value.shape, index) : cuckoo_options(value.shape);
}

bool append_filter(Value& value) {
  tamis::Result<MutableFilter> filter = MutableFilter::create(options_of(value, value.filters.size()));
  if (!filter.ok()) return false;
  value.filters.push_back(*std::move(filter));
  return true;
}

/// Of all filters of the value: they hash alike.
std::uint64_t hash_of(const Value& value, std::string_view item) { return value.filters.front().hash(item); }

bool may_contain_hash(const Value& value, std::uint64_t hash) {
  // The newest has the most items.
  return std::any_of(value.filters.rbegin(), value.filters.rend(),
                     [&](const MutableFilter& filter) { return filter.may_contain_hash(hash); });
}

}  // namespace

std::unique_ptr<Value> make_value(Sort sort, const Shape& shape) {
  auto value = std::make_unique<Value>();
  value->sort = sort;
  value->shape = shape;
  return append_filter(*value) ? std::move(value) : nullptr;
}

bool fits_its_shape(const Value& value, std::size_t index) {
  const FilterOptions options = options_of(value, index);
  const tamis::FilterInfo info = value.filters[index].info();
  // Fewer bits than items tell nothing, and a head must not make the next filter larger than what has come allows.
  if (info.bits < options.capacity) return false;
  return info.kind == options.kind && info.seed == options.seed && info.prefix_rule == options.prefix_rule;
}

bool may_contain(const Value& value, std::string_view item) { return may_contain_hash(value, hash_of(value, item)); }

Added add(Value& value, std::string_view item) {
  const std::uint64_t hash = hash_of(value, item);
  if (value.sort == Sort::kBloom) {
    if (may_contain_hash(value, hash)) return Added::kWasThere;
    if (value.items >= capacity_of(value)) {
      if (value.shape.expansion == 0) return Added::kFull;
      if (!append_filter(value)) return Added::kFailed;
    }
  }
  const tamis::Status added = value.filters.back().add_hash(hash);
  if (!added.ok()) return added.code() == tamis::StatusCode::kOutOfSpace ? Added::kFull : Added::kFailed;
  ++value.items;
  return Added::kYes;
}

std::uint64_t count(const Value& value, std::string_view item) {
  return value.filters.front().count_hash(hash_of(value, item));
}

bool remove(Value& value, std::string_view item) {
  const tamis::Result<bool> was_there = value.filters.front().remove_hash(hash_of(value, item));
  if (!was_there.ok() || !*was_there) return false;
  if (value.items > 0) --value.items;
  ++value.removed;
  return true;
}

std::uint64_t capacity_of(const Value& value) {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < value.filters.size(); ++i) all += chained_capacity(value.shape, i);
  return all;
}

}  // namespace tamis_redis
