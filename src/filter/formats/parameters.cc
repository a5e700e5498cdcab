#include "filter/formats/parameters.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <numbers>

#include "base/try.h"

namespace tamis::foreign {
namespace {

Status refuse_unused(const BuildOptions& options, ParameterSet takes) {
  struct Row {
    ParameterSet parameter;
    bool given;
    std::string_view name;
  };
  const Row rows[] = {
      {kTakesExpectedKeys, options.expected_keys.has_value(), "a number of expected keys"},
      {kTakesRate, options.fpr.has_value(), "a false-positive rate"},
      {kTakesBits, options.bits.has_value(), "a number of bits"},
      {kTakesHashes, options.hashes.has_value(), "a number of hashes"},
      {kTakesBitsPerKey, options.bits_per_key.has_value(), "bits per key"},
      {kTakesWords, options.words.has_value(), "a number of words"},
      {kTakesBlocks, options.blocks.has_value(), "a number of blocks"},
      {kTakesSeed, options.seed.has_value(), "a seed"},
      {kTakesVariant, !options.variant.empty(), "a variant"},
  };
  for (const Row& row : rows) {
    if (row.given && (takes & row.parameter) == 0) {
      return Status::invalid_argument(fmt::format("{} does not take {}", options.format, row.name));
    }
  }
  return {};
}

}  // namespace

Status check_parameters(const BuildOptions& options, ParameterSet takes) {
  TAMIS_TRY_STATUS(refuse_unused(options, takes));
  // Written so that NaN fails.
  const bool one_is_fine = (takes & kTakesRateOfOne) != 0;
  if (options.fpr && !(*options.fpr > 0 && (*options.fpr < 1 || (one_is_fine && *options.fpr == 1)))) {
    return Status::invalid_argument(fmt::format("a false-positive rate must be between 0 and 1, not {}", *options.fpr));
  }
  if (options.bits_per_key && !(*options.bits_per_key > 0 && *options.bits_per_key <= 1000)) {
    return Status::invalid_argument(
        fmt::format("bits per key must be between 0 and 1000, not {}", *options.bits_per_key));
  }
  if (options.expected_keys && *options.expected_keys > kMaxBuildBits) {
    return Status::invalid_argument(fmt::format("too many expected keys: {}", *options.expected_keys));
  }
  return {};
}

std::uint64_t keys_to_size_for(const BuildOptions& options, std::size_t keys) {
  return std::max<std::uint64_t>(options.expected_keys.value_or(keys), 1);
}

double ideal_bits(std::uint64_t keys, double rate) {
  return -static_cast<double>(keys) * std::log(rate) / (std::numbers::ln2 * std::numbers::ln2);
}

Result<std::uint64_t> checked_bits(double bits) {
  if (!(bits <= static_cast<double>(kMaxBuildBits))) {
    return Status::invalid_argument(
        fmt::format("a filter of {:.0f} bits is too large; at most {}", bits, kMaxBuildBits));
  }
  return checked_bits(static_cast<std::uint64_t>(bits));
}

Result<std::uint64_t> checked_bits(std::uint64_t bits) {
  if (bits == 0) return Status::invalid_argument("a filter needs at least one bit");
  if (bits > kMaxBuildBits) {
    return Status::invalid_argument(fmt::format("a filter of {} bits is too large; at most {}", bits, kMaxBuildBits));
  }
  return bits;
}

Result<std::uint64_t> bits_by_rate(const BuildOptions& options, std::uint64_t keys) {
  if (options.bits) return checked_bits(*options.bits);
  return checked_bits(std::ceil(ideal_bits(keys, options.fpr.value_or(0.01))));
}

Result<std::uint32_t> checked_hashes(const BuildOptions& options, double computed, std::uint32_t limit) {
  const double hashes = options.hashes ? static_cast<double>(*options.hashes) : computed;
  if (!(hashes >= 1 && hashes <= limit)) {
    return Status::invalid_argument(fmt::format("{} takes 1 to {} hashes, not {:.0f}", options.format, limit, hashes));
  }
  return static_cast<std::uint32_t>(hashes);
}

Result<std::uint32_t> whole_bits_per_key(const BuildOptions& options, std::uint32_t fallback) {
  const double bits_per_key = options.bits_per_key.value_or(fallback);
  if (bits_per_key < 1 || bits_per_key != std::floor(bits_per_key)) {
    return Status::invalid_argument(
        fmt::format("{} takes a whole number of bits per key, at least 1, not {}", options.format, bits_per_key));
  }
  return static_cast<std::uint32_t>(bits_per_key);
}

Result<std::string> zeroed_file(std::string_view head, std::uint64_t bytes, std::string_view tail) {
  std::string file;
  try {
    file.reserve(head.size() + bytes + tail.size());
  } catch (const std::bad_alloc&) {
    return Status::out_of_space(fmt::format("no memory for a filter of {} bytes", bytes));
  }
  file.append(head).append(bytes, '\0').append(tail);
  return file;
}

}  // namespace tamis::foreign
