#include "cli/filter/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace tamis::cli {

SampleHashes sample_hashes(std::uint64_t present, std::uint64_t absent) {
  const FilterBuilder hasher;
  SampleHashes sample;
  sample.present.reserve(present);
  sample.absent.reserve(absent);
  for (std::uint64_t i = 0; i < present + absent; ++i) {
    const auto text = fmt::format_int(i);
    const std::uint64_t hash = hasher.hash({text.data(), text.size()});
    (i < present ? sample.present : sample.absent).push_back(hash);
  }
  return sample;
}

Result<Filter> build_from(std::string_view kind, SizeTarget target, std::span<const std::uint64_t> hashes) {
  FilterOptions options = {.kind = std::string(kind)};
  if (target.measure == SizeTarget::Measure::kRate) options.target_rate = target.value;
  if (target.measure == SizeTarget::Measure::kBitsPerKey) options.bits_per_key = target.value;
  FilterBuilder builder(options);
  for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  return builder.finish();
}

double measured_rate(const Filter& filter, std::span<const std::uint64_t> absent) {
  constexpr std::size_t kBatch = 1024;
  std::array<std::uint64_t, kBatch / 64> answers;
  std::uint64_t wrong = 0;
  for (std::size_t begin = 0; begin < absent.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, absent.size() - begin);
    filter.may_contain_many(absent.subspan(begin, count), answers.data());
    for (const std::uint64_t word : std::span(answers).first((count + 63) / 64)) {
      wrong += static_cast<std::uint64_t>(std::popcount(word));
    }
  }
  return static_cast<double>(wrong) / static_cast<double>(absent.size());
}

}  // namespace tamis::cli
