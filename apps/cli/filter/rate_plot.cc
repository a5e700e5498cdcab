#include "cli/filter/rate_plot.h"

#include "cli/error.h"
#include "cli/filter/measure.h"
#include "show/progress.h"
#include "tamis/filter.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kKeys = 100'000;
// Enough to measure a rate of one in 400,000: ten wrong answers expected.
constexpr std::uint64_t kProbes = 4'000'000;
constexpr double kMinExpectedWrong = 10;
constexpr int kMinBits = 4;
constexpr int kMaxBits = 20;
constexpr int kPredictionsPerBit = 4;

SizeTarget bits(double per_key) { return {SizeTarget::Measure::kBitsPerKey, per_key}; }

/// Appends unless it repeats the last point: some kinds have only a few sizes.
void append(std::vector<show::Point>& points, show::Point point) {
  if (points.empty() || point.x > points.back().x + 0.01) points.push_back(point);
}

std::vector<show::Point> predict(const std::string& kind) {
  std::vector<show::Point> points;
  for (int step = kMinBits * kPredictionsPerBit; step <= kMaxBits * kPredictionsPerBit; ++step) {
    const Result<FilterSize> size = filter_size(kind, kKeys, bits(double{1} * step / kPredictionsPerBit));
    if (size.ok()) append(points, {size->bits_per_key(), size->rate});
  }
  return points;
}

}  // namespace

RatePlot measure_rates(const std::vector<std::string>& kinds, const CommonOptions& options) {
  show::Progress progress("measuring", kinds.size() * (kMaxBits - kMinBits + 1), options.wants_progress());
  const SampleHashes sample = sample_hashes(kKeys, kProbes);
  RatePlot plot = {.keys = kKeys, .probes = kProbes, .series = {}};
  for (const std::string& kind : kinds) {
    RateSeries series = {.kind = kind, .predicted = predict(kind), .measured = {}};
    for (int per_key = kMinBits; per_key <= kMaxBits; ++per_key) {
      progress.advance(1);
      const Result<FilterSize> size = filter_size(kind, kKeys, bits(per_key));
      if (!size.ok() || size->rate * kProbes < kMinExpectedWrong) continue;
      if (!series.measured.empty() && size->bits_per_key() <= series.measured.back().x + 0.01) continue;
      const Filter filter = need(build_from(kind, bits(per_key), sample.present));
      series.measured.push_back({size->bits_per_key(), measured_rate(filter, sample.absent)});
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

}  // namespace tamis::cli
