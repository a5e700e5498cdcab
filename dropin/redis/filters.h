// Items in the filters of a value. All need a complete one.
#pragma once

#include <memory>
#include <string_view>

#include "value.h"

namespace tamis_redis {

enum class Added : std::uint8_t {
  kYes,
  kWasThere,
  kFull,   // It does not grow, or has grown as often as it can.
  kFailed  // No memory.
};

/// An empty value, or null without memory.
std::unique_ptr<Value> make_value(Sort sort, const Shape& shape);

/// Whether a loaded filter, the one with this index, is such as the shape of its value asks for.
bool fits_its_shape(const Value& value, std::size_t index);

bool may_contain(const Value& value, std::string_view item);
/// Adds an item that is not there; to a cuckoo filter, any item.
Added add(Value& value, std::string_view item);
/// How many times the item may be in a cuckoo filter.
std::uint64_t count(const Value& value, std::string_view item);
/// Takes an item out of a cuckoo filter: true if it was there.
bool remove(Value& value, std::string_view item);

/// The items that the chain of a Bloom filter is made for, as long as it is.
std::uint64_t capacity_of(const Value& value);

}  // namespace tamis_redis
