// tamis demo: a filter of each kind from a million keys, side by side.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "command_line.h"
#include "error.h"
#include "files.h"
#include "json.h"
#include "measure.h"
#include "numbers.h"
#include "output.h"
#include "progress.h"
#include "rate_plot.h"
#include "table.h"
#include "tamis/filter.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kKeys = 1'000'000;
constexpr std::uint64_t kProbes = 4'000'000;
constexpr double kRate = 0.01;

struct Measured {
  std::string kind;
  FilterInfo info;
  double bits_per_key;
  double rate;
  double bound_ratio;  ///< Of the measured rate.
  double single_ns;
  double many_ns;
  double build_ns;  ///< Per key.
};

/// The median of a few runs, so that cold memory or an interruption by another program does not show.
template <std::size_t kRuns, typename Run>
double median_ns(const Run& run) {
  std::array<double, kRuns> times;
  for (double& time : times) {
    const auto start = std::chrono::steady_clock::now();
    run();
    time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  }
  std::ranges::sort(times);
  return times[kRuns / 2];
}

Measured measure(std::string_view kind, const SampleHashes& sample) {
  const auto build = [&] { return need(build_from(kind, {SizeTarget::Measure::kRate, kRate}, sample.present)); };
  const Filter filter = build();
  const double build_ns = median_ns<3>(build);

  const auto timed = std::span(sample.absent).first(kKeys);
  std::uint64_t maybes = 0;
  const double single_ns = median_ns<5>([&] {
    for (const std::uint64_t hash : timed) maybes += filter.may_contain_hash(hash) ? 1 : 0;
  });
  const double many_ns = median_ns<5>([&] { maybes += measured_rate(filter, timed) > 0 ? 1 : 0; });
  if (maybes == 0) report_warning(fmt::format("{}: no false positive at all, which is odd", kind));

  const FilterInfo info = filter.info();
  const double rate = measured_rate(filter, sample.absent);
  const double bits_per_key = static_cast<double>(info.bits) / kKeys;
  return {.kind = std::string(kind),
          .info = info,
          .bits_per_key = bits_per_key,
          .rate = rate,
          .bound_ratio =
              FilterSize{.keys = kKeys, .bytes = info.bits / 8, .hashes = info.hashes, .rate = rate}.bound_ratio(),
          .single_ns = single_ns / kKeys,
          .many_ns = many_ns / kKeys,
          .build_ns = build_ns / kKeys};
}

std::string as_json(const Measured& row) {
  return JsonObject()
      .add("kind", row.kind)
      .add("keys", kKeys)
      .add("bits_per_key", row.bits_per_key)
      .add("hashes", row.info.hashes)
      .add("fpr_designed", row.info.designed_rate)
      .add("fpr_measured", row.rate)
      .add("bound_ratio", row.bound_ratio)
      .add("probe_ns", row.single_ns)
      .add("probe_many_ns", row.many_ns)
      .add("build_ns_per_key", row.build_ns)
      .text();
}

void print_table(const std::vector<Measured>& rows) {
  Table table({{"kind", Table::Align::kLeft},
               {"bits/key"},
               {"k"},
               {"predicted"},
               {"measured"},
               {"x bound"},
               {"one ns"},
               {"many ns"},
               {"build ns"}});
  for (const Measured& row : rows) {
    table.add({row.kind, fmt::format("{:.2f}", row.bits_per_key), std::to_string(row.info.hashes),
               human_rate(row.info.designed_rate), human_rate(row.rate), fmt::format("{:.3f}", row.bound_ratio),
               fmt::format("{:.1f}", row.single_ns), fmt::format("{:.1f}", row.many_ns),
               fmt::format("{:.0f}", row.build_ns)});
  }
  Output& out = standard_output();
  out.print("{} keys, a target of {}, {} absent keys asked for\n\n", with_thousands(kKeys), human_rate(kRate),
            with_thousands(kProbes));
  out.write(table.text());
  out.write(
      "\nx bound: bits/key against log2(1/measured), the least that any filter can have.\n"
      "one, many: a probe for an absent key whose hash is known, alone and in batches;\n"
      "build: per key.\n");
}

}  // namespace

int run_demo(Arguments arguments) {
  std::string plot_path = "tamis-filters.svg";
  CommandLine line({.name = "demo",
                    .summary =
                        "Builds a filter of each kind from a million keys at the same target, measures them side by "
                        "side, and draws the plot of 'tamis filter plot'. Takes some seconds.",
                    .usage = "[--plot FILE]",
                    .example = "  tamis demo --plot rates.svg"});
  line.option("--plot", "FILE", "where the plot goes; tamis-filters.svg unless told", plot_path);
  if (!line.read(arguments)) return kExitOk;

  std::vector<Measured> rows;
  std::vector<std::string> kinds;
  {
    Progress progress("measuring", filter_kinds().size(), line.common());
    const SampleHashes sample = sample_hashes(kKeys, kProbes);
    for (const FilterKindInfo& kind : filter_kinds()) {
      rows.push_back(measure(kind.name, sample));
      kinds.emplace_back(kind.name);
      progress.advance(1);
    }
  }
  if (line.common().json) {
    for (const Measured& row : rows) standard_output().print("{}\n", as_json(row));
  } else {
    print_table(rows);
  }
  standard_output().flush();
  write_whole(plot_path, rate_plot_svg(measure_rates(kinds, line.common())));
  if (!line.common().json && !line.common().quiet) standard_output().print("\nplot: {}\n", plot_path);
  return kExitOk;
}

}  // namespace tamis::cli
