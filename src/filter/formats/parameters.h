// The parameters of a build: which ones a format takes, whether they are valid, and shared sizing rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/foreign.h"

namespace tamis::foreign {

/// The fields of BuildOptions that a format may use, as bits of a set.
enum Parameter : std::uint32_t {
  kTakesExpectedKeys = 1,
  kTakesRate = 2,
  kTakesBits = 4,
  kTakesHashes = 8,
  kTakesBitsPerKey = 16,
  kTakesWords = 32,
  kTakesBlocks = 64,
  kTakesSeed = 128,
  kTakesVariant = 256,
  kTakesRateOfOne = 512,  // A rate of 1 is allowed and means no filter.
};
using ParameterSet = std::uint32_t;

/// kInvalidArgument for a parameter that the format does not use, an invalid rate, or a size above kMaxBuildBits.
Status check_parameters(const BuildOptions& options, ParameterSet takes);

/// The largest filter we build, 8 GiB; anything larger is a typing error.
inline constexpr std::uint64_t kMaxBuildBits = std::uint64_t{1} << 36;

/// The number of keys to size for, at least 1: where the originals divide by zero, an empty set counts as one key.
std::uint64_t keys_to_size_for(const BuildOptions& options, std::size_t keys);

/// −n · ln p / (ln 2)², the optimal size of a Bloom filter, as all these systems compute it before rounding.
double ideal_bits(std::uint64_t keys, double rate);

/// A computed or given size in bits; kInvalidArgument if it is 0 or above kMaxBuildBits.
Result<std::uint64_t> checked_bits(double bits);
Result<std::uint64_t> checked_bits(std::uint64_t bits);

/// options.bits if given, else ⌈ideal_bits⌉ for the rate, default 0.01: the sizing of most formats.
Result<std::uint64_t> bits_by_rate(const BuildOptions& options, std::uint64_t keys);

/// options.hashes if given, else `computed`; kInvalidArgument outside 1 … limit.
Result<std::uint32_t> checked_hashes(const BuildOptions& options, double computed, std::uint32_t limit);

/// options.bits_per_key, or `fallback`, for systems that take integers: 1 … 1000.
Result<std::uint32_t> whole_bits_per_key(const BuildOptions& options, std::uint32_t fallback);

/// `bytes` zeros between `head` and `tail`, or kOutOfSpace.
Result<std::string> zeroed_file(std::string_view head, std::uint64_t bytes, std::string_view tail = {});

}  // namespace tamis::foreign
