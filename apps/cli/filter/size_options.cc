#include "cli/filter/size_options.h"

#include <fmt/core.h>

namespace tamis::cli {

void SizeOptions::declare(CommandLine& line, double (*parse)(std::string_view, std::string_view)) {
  line.option("--fpr", "P", "max false-positive rate; 0.01 if no size is given", rate, parse);
  line.option("--bits-per-key", "B", "this many bits per key", bits_per_key, parse_positive);
  line.option("--memory", "BYTES", "max total size; K, M and G are 1024, 1024² and 1024³", memory_bytes, parse_bytes);
}

void SizeOptions::check(const CommandLine& line) const {
  if (rate || bits_per_key || memory_bytes) line.need_one_of({"--fpr", "--bits-per-key", "--memory"});
}

SizeTarget SizeOptions::target() const {
  if (rate) return {SizeTarget::Measure::kRate, *rate};
  if (bits_per_key) return {SizeTarget::Measure::kBitsPerKey, *bits_per_key};
  if (memory_bytes) return {SizeTarget::Measure::kMemory, static_cast<double>(*memory_bytes)};
  return {};
}

std::string hint_of_smaller_kind(std::string_view kind, std::uint64_t keys, SizeTarget target) {
  constexpr double kNotable = 1.5;
  if (target.measure != SizeTarget::Measure::kRate || kind != "line") return {};
  const Result<FilterSize> own = filter_size(kind, keys, target);
  const Result<FilterSize> ribbon = filter_size("ribbon", keys, target);
  if (!own.ok() || !ribbon.ok() || own->bits_per_key() < kNotable * ribbon->bits_per_key()) return {};
  return fmt::format("at this rate line takes {:.1f} bits per key; ribbon would take {:.1f}", own->bits_per_key(),
                     ribbon->bits_per_key());
}

}  // namespace tamis::cli
