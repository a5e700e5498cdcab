// tamis plan: how the filter memory is shared among the runs.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line.h"
#include "error.h"
#include "json.h"
#include "numbers.h"
#include "output.h"
#include "store_common.h"
#include "tamis/db.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

std::string as_json(const PlanReport& plan) {
  std::vector<std::string> runs;
  for (const PlanReport::Run& run : plan.runs) {
    runs.push_back(JsonObject()
                       .add("level", run.level)
                       .add("run", run.run)
                       .add("keys", run.keys)
                       .add("kind", run.kind)
                       .add("bits_per_key", run.bits_per_key)
                       .add("bytes", run.bytes)
                       .add("fpr", run.rate)
                       .text());
  }
  return JsonObject()
      .add_list("runs", runs)
      .add("filter_memory", plan.filter_memory)
      .add("wasted_reads", plan.wasted_reads)
      .add("wasted_reads_uniform", plan.wasted_reads_uniform)
      .text();
}

}  // namespace

int run_plan(Arguments arguments) {
  StoreArguments store;
  std::optional<std::uint64_t> memory;
  CommandLine line({.name = "plan",
                    .summary =
                        "The filter plan for the runs that there are: bits per key and bytes for each, and the reads "
                        "that a lookup of an absent key is expected to waste, against the same bits for all.",
                    .usage = "DIR [--filter-memory BYTES]",
                    .example = "  tamis plan cities --filter-memory 16M"});
  store.declare(line);
  line.option("--filter-memory", "BYTES", "plan for so much memory instead of the store's own", memory, parse_bytes);
  if (!line.read(arguments)) return kExitOk;
  const DB db = store.open(StoreUse::kRead);
  const PlanReport plan = db.plan(memory);
  print_report(line.common().json ? as_json(plan) + "\n" : plan.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
