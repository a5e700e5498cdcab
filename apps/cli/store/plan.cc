// tamis plan: how filter memory is divided among runs; or, with --size, what a store would cost.
#include <cstdint>
#include <optional>
#include <string>

#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/store/scale_text.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

JsonObject run_json(const PlanReport::Run& run) {
  return JsonObject()
      .add("level", run.level)
      .add("run", run.run)
      .add("keys", run.keys)
      .add("kind", run.kind)
      .add("bits_per_key", run.bits_per_key)
      .add("bytes", run.bytes)
      .add("fpr", run.rate);
}

JsonObject as_json(const PlanReport& plan) {
  return JsonObject()
      .add_list("runs", plan.runs, run_json)
      .add("filter_memory", plan.filter_memory)
      .add("wasted_reads", plan.wasted_reads)
      .add("wasted_reads_uniform", plan.wasted_reads_uniform);
}

}  // namespace

int run_plan(Arguments arguments) {
  StoreArguments store;
  ScaleArguments scale;
  std::optional<std::string> directory;
  std::optional<std::uint64_t> memory;
  CommandLine line({.summary =
                        "Shows the filter plan for the current runs: bits per key and bytes for each, and the reads "
                        "that a lookup of an absent key is expected to waste, compared with uniform bits. With --size "
                        "instead of DIR: what a store of that size would cost in memory, reads, rewriting and time to "
                        "open, computed and simulated (docs/SCALE.md).",
                    .usage = "DIR [--filter-memory BYTES] | --size BYTES",
                    .example = "  tamis plan cities --filter-memory 16M\n"
                               "  tamis plan --size 1TB --option memory_bytes=64G --load-per-day 200GB",
                    .common = kJson});
  line.optional_operand("DIR", "the store's folder", directory);
  store.declare_options(line);
  line.option("--filter-memory", "BYTES", "plan for this much memory instead of the store's own", memory, parse_bytes);
  scale.declare(line);
  if (!line.read(arguments)) return kExitOk;
  if (scale.size) {
    if (directory) {
      usage_error("give DIR, for an existing store, or --size, for a hypothetical one, not both");
    }
    Options options = store.options(StoreUse::kCreate);
    if (memory) options.filter_memory = memory;
    print_scale(scale.question(options), line.common());
    return kExitOk;
  }
  if (!directory) usage_error("DIR or --size is missing; see 'tamis plan --help'");
  store.directory = *directory;
  ScaleArguments::refuse(line);
  const PlanReport plan = store.open(StoreUse::kRead).plan(memory);
  print_report(line.common().json ? as_json(plan).line() : plan.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
