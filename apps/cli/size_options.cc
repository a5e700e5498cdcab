#include "size_options.h"

#include "numbers.h"

namespace tamis::cli {

void SizeOptions::declare(CommandLine& line) {
  line.option("--fpr", "P", "at most this rate of false positives, e.g. 0.01", rate, parse_rate);
  line.option("--bits-per-key", "B", "this many bits per key", bits_per_key, parse_positive);
  line.option("--memory", "BYTES", "at most this much altogether; K, M and G are 1024, 1024² and 1024³", memory_bytes,
              parse_bytes);
}

void SizeOptions::need_one(const CommandLine& line) { line.need_one_of({"--fpr", "--bits-per-key", "--memory"}); }

SizeTarget SizeOptions::target() const {
  if (rate) return {SizeTarget::Measure::kRate, *rate};
  if (bits_per_key) return {SizeTarget::Measure::kBitsPerKey, *bits_per_key};
  return {SizeTarget::Measure::kMemory, static_cast<double>(*memory_bytes)};
}

}  // namespace tamis::cli
