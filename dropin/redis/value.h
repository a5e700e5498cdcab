// What a key holds.
#pragma once

#include <tamis/filter.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tamis_redis {

enum class Sort : std::uint8_t { kBloom, kCuckoo };  // BF.* and CF.*

// Of one filter; RESERVE allows less.
inline constexpr std::uint64_t kMostCapacity = std::uint64_t{1} << 42;
inline constexpr std::uint32_t kMostExpansion = 32768;
inline constexpr std::uint16_t kMostBucketSize = 255;

/// What RESERVE was told.
struct Shape {
  std::uint64_t capacity = 0;
  double error_rate = 0;             // Of a Bloom filter.
  std::uint32_t expansion = 0;       // 0: it does not grow.
  std::uint16_t bucket_size = 0;     // Of a cuckoo filter: shown, without effect.
  std::uint16_t max_iterations = 0;  // The same.
};

/// The filters of a key. Those of a Bloom filter are a chain: when the newest has its capacity, another one of
/// `expansion` times that is added. A cuckoo filter is one.
///
/// A value that is made with LOADCHUNK is incomplete until its last chunk has come: `awaited` has the bytes of the
/// filters that are missing, `arrived` those that have come of the first of them. An incomplete value is saved and
/// copied as it is.
///
/// Threads: as the server, one at a time.
struct Value {
  Sort sort = Sort::kBloom;
  Shape shape;
  std::uint64_t items = 0;    // Added and not removed.
  std::uint64_t removed = 0;  // From a cuckoo filter.
  std::vector<tamis::MutableFilter> filters;
  std::vector<std::uint64_t> awaited;
  std::string arrived;

  [[nodiscard]] bool is_complete() const { return awaited.empty(); }
};

/// The bytes of a filter's container.
inline std::uint64_t container_bytes(tamis::MutableFilter& filter) { return 1 + filter.part(1, SIZE_MAX).size(); }

/// The memory that the value takes.
inline std::size_t memory_of(Value& value) {
  std::size_t bytes = sizeof value + value.arrived.size() + value.awaited.size() * sizeof(std::uint64_t);
  // Behind each MutableFilter is a state of about its size.
  for (tamis::MutableFilter& filter : value.filters) bytes += 2 * sizeof filter + container_bytes(filter);
  return bytes;
}

}  // namespace tamis_redis
