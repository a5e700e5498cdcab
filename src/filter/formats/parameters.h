// The parameters of a build: which a format takes, whether they make sense, and the sizing rules formats share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/foreign.h"

namespace tamis::foreign {

/// Names of the fields of BuildOptions a format may have a use for; a set of them is a sum.
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
  kTakesRateOfOne = 512,  // A rate of 1 has a meaning: no filter at all.
};
using ParameterSet = std::uint32_t;

/// kInvalidArgument for a parameter the format has no use for, an impossible rate, or a size beyond kMaxBuildBits.
Status check_parameters(const BuildOptions& options, ParameterSet takes);

/// The largest filter we build, 8 GiB; a larger one is a slip of the keyboard.
inline constexpr std::uint64_t kMaxBuildBits = std::uint64_t{1} << 36;

/// The number of keys to size for, at least 1: where the originals divide by zero, an empty set counts as one key.
std::uint64_t keys_to_size_for(const BuildOptions& options, std::size_t keys);

/// −n · ln p / (ln 2)², the best size of a Bloom filter, as all these systems compute it before they round.
double ideal_bits(std::uint64_t keys, double rate);

/// A size in bits that was computed or given: kInvalidArgument when it is 0 or beyond kMaxBuildBits.
Result<std::uint64_t> checked_bits(double bits);
Result<std::uint64_t> checked_bits(std::uint64_t bits);

/// options.bits when given, else ⌈ideal_bits⌉ for the rate, 0.01 unless told: the sizing most formats share.
Result<std::uint64_t> bits_by_rate(const BuildOptions& options, std::uint64_t keys);

/// options.hashes when given, else `computed`, which must be in range: 1 … limit, else kInvalidArgument.
Result<std::uint32_t> checked_hashes(const BuildOptions& options, double computed, std::uint32_t limit);

/// options.bits_per_key, or `fallback`, for systems that take whole numbers: 1 … 1000.
Result<std::uint32_t> whole_bits_per_key(const BuildOptions& options, std::uint32_t fallback);

/// `bytes` zeros with `head` before and `tail` after, or kOutOfSpace.
Result<std::string> zeroed_file(std::string_view head, std::uint64_t bytes, std::string_view tail = {});

}  // namespace tamis::foreign
