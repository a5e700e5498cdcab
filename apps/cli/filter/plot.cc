// tamis filter plot: measures the false-positive rates of filters and charts them beside the predicted ones.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/verbs.h"
#include "show/chart.h"
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
constexpr double kAxisBegin = 3;  // A ribbon asked for 4 bits may take 3.
constexpr double kAxisEnd = 20.5;
constexpr int kDecades = 6;  // The axis goes from 1 down to 10^-6.
constexpr double kHeight = 430;
// Predicted points farther apart than this are the few sizes a kind comes in; nothing lies between them.
constexpr double kWidestStepBits = 1.5;

/// One kind: its predicted line and its measured marks. x is bits per key, y the rate.
struct RateSeries {
  std::string kind;
  std::vector<show::Point> predicted;
  std::vector<show::Point> measured;
};

/// Hashes of the numbers from `first` on, which all filters share.
std::vector<std::uint64_t> hashes_of(std::uint64_t first, std::uint64_t count) {
  const FilterBuilder hasher;
  std::vector<std::uint64_t> hashes;
  hashes.reserve(count);
  for (std::uint64_t i = first; i < first + count; ++i) hashes.push_back(hasher.hash(std::to_string(i)));
  return hashes;
}

Filter build(const std::string& kind, double bits_per_key, std::span<const std::uint64_t> hashes) {
  FilterBuilder builder({.kind = kind, .bits_per_key = bits_per_key});
  for (const std::uint64_t hash : hashes) builder.add_hash(hash);
  return need(builder.finish());
}

/// The fraction of these absent keys that pass the filter.
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

/// The size of a filter, unless the kind cannot have it or it repeats the last point: some kinds have only a few sizes.
std::optional<FilterSize> next_size(const std::string& kind, double bits_per_key,
                                    const std::vector<show::Point>& points) {
  const Result<FilterSize> size = filter_size(kind, kKeys, {SizeTarget::Measure::kBitsPerKey, bits_per_key});
  if (!size.ok() || (!points.empty() && size->bits_per_key() <= points.back().x + 0.01)) return std::nullopt;
  return *size;
}

std::vector<show::Point> predict(const std::string& kind) {
  std::vector<show::Point> points;
  for (int step = kMinBits * kPredictionsPerBit; step <= kMaxBits * kPredictionsPerBit; ++step) {
    const auto size = next_size(kind, double{1} * step / kPredictionsPerBit, points);
    if (size) points.push_back({size->bits_per_key(), size->rate});
  }
  return points;
}

/// Builds and measures a filter of each of these kinds for 4, 5, … 20 bits per key. Takes seconds.
std::vector<RateSeries> measure_rates(const std::vector<std::string>& kinds, const CommonOptions& options) {
  show::Progress progress("measuring", kinds.size() * (kMaxBits - kMinBits + 1), options.wants_progress());
  const std::vector<std::uint64_t> present = hashes_of(0, kKeys);
  const std::vector<std::uint64_t> absent = hashes_of(kKeys, kProbes);
  std::vector<RateSeries> plot;
  for (const std::string& kind : kinds) {
    RateSeries series = {.kind = kind, .predicted = predict(kind), .measured = {}};
    for (int per_key = kMinBits; per_key <= kMaxBits; ++per_key) {
      progress.advance(1);
      const auto size = next_size(kind, per_key, series.measured);
      if (!size || size->rate * kProbes < kMinExpectedWrong) continue;
      series.measured.push_back({size->bits_per_key(), measured_rate(build(kind, per_key, present), absent)});
    }
    plot.push_back(std::move(series));
  }
  return plot;
}

show::LinePanel empty_panel() {
  show::Axis bits = {.low = kAxisBegin, .high = kAxisEnd, .is_logarithmic = false, .steps = {}};
  for (int step = kMinBits; step <= kMaxBits; step += 2) bits.steps.emplace_back(step, std::to_string(step));
  show::Axis rates = {.low = std::pow(10.0, -kDecades), .high = 1, .is_logarithmic = true, .steps = {}};
  for (int decade = 0; decade <= kDecades; ++decade) {
    rates.steps.emplace_back(std::pow(10.0, -decade), fmt::format("{:g} %", std::pow(10.0, 2 - decade)));
  }
  return {"False-positive rate (logarithmic)", "bits per key", std::move(bits), std::move(rates), {}, kHeight};
}

std::string svg_of(const std::vector<RateSeries>& plot) {
  show::LinePanel panel = empty_panel();
  panel.curves.push_back({.name = "least possible",
                          .series = 0,
                          .line = {{kAxisBegin, std::exp2(-kAxisBegin)}, {kAxisEnd, std::exp2(-kAxisEnd)}},
                          .marks = {},
                          .is_bound = true});
  for (std::size_t i = 0; i < plot.size(); ++i) {
    if (plot[i].predicted.empty()) continue;
    panel.curves.push_back({plot[i].kind, i, plot[i].predicted, {}, false, kWidestStepBits});
    for (const show::Point& point : plot[i].measured) {
      if (point.y > 0) panel.curves.back().marks.push_back(point);
    }
  }
  const std::string subtitle = fmt::format("Lines: predicted. Marks: measured on {} keys with {} others.",
                                           with_thousands(kKeys), with_thousands(kProbes));
  return show::line_chart_svg("What a bit per key buys", subtitle, {panel});
}

std::string points_as_json(const RateSeries& series, const std::vector<show::Point>& points,
                           std::string_view rate_name) {
  std::string lines;
  for (const show::Point& point : points) {
    lines += JsonObject()
                 .add("kind", series.kind)
                 .add("bits_per_key", point.x)
                 .add(rate_name, point.y)
                 .add("fpr_bound", std::exp2(-point.x))
                 .line();
  }
  return lines;
}

std::string describe(const std::vector<RateSeries>& plot, const std::string& output, bool json) {
  std::string text;
  std::size_t marks = 0;
  for (const RateSeries& series : plot) {
    marks += series.measured.size();
    if (!json) continue;
    text += points_as_json(series, series.predicted, "fpr_predicted");
    text += points_as_json(series, series.measured, "fpr_measured");
  }
  return json ? text : fmt::format("{}: {} kinds, {} measured filters\n", output, plot.size(), marks);
}

}  // namespace

int run_filter_plot(Arguments arguments) {
  std::vector<std::string> kinds;
  std::string output;
  CommandLine line({.summary =
                        "Measures filters of 4 to 20 bits per key and plots their false-positive rates, measured and "
                        "predicted, against the theoretical minimum, as SVG. Takes a few seconds.",
                    .usage = "[--kind K...] -o FILE.svg",
                    .example = "  tamis filter plot --kind line ribbon -o rates.svg",
                    .common = kJson | kQuiet | kNoProgress});
  line.list("--kind", "K", "only these kinds; default: all", kinds);
  line.option("-o,--output", "FILE", "the SVG to write, or - for standard output", output);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--output"});
  for (const std::string& kind : kinds) need(filter_size(kind, 1, {}));
  if (kinds.empty()) {
    for (const FilterKindInfo& info : filter_kinds()) kinds.emplace_back(info.name);
  }

  const std::vector<RateSeries> plot = measure_rates(kinds, line.common());
  write_whole(output, svg_of(plot));
  if (output != "-" && !line.common().quiet) standard_output().write(describe(plot, output, line.common().json));
  return kExitOk;
}

}  // namespace tamis::cli
