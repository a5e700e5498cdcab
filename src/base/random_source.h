// Where a store's random numbers come from: ids, salts, its key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

namespace tamis {

/// Random numbers.
///
/// Threads: any, for the sources made here.
class RandomSource {
 public:
  virtual ~RandomSource() = default;
  virtual std::uint64_t next() = 0;
};

/// The machine's randomness, or, for repeatable runs, numbers that follow from a seed.
std::unique_ptr<RandomSource> make_random_source(std::optional<std::uint64_t> seed);

}  // namespace tamis
