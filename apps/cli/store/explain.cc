// tamis explain: every step of a lookup.
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/store/common.h"
#include "cli/verbs.h"
#include "tamis/db.h"

namespace tamis::cli {
namespace {

std::string step_json(const Explanation::Step& step) {
  JsonObject object;
  object.add("where", step.where).add("level", step.level).add("run", step.run).add("table", step.table);
  if (step.filter_verdict.empty()) {
    object.add("filter", nullptr);
  } else {
    object.add_object("filter", JsonObject()
                                    .add("kind", step.filter_kind)
                                    .add("bits_per_key", step.bits_per_key)
                                    .add("verdict", step.filter_verdict));
  }
  if (step.block_source.empty()) {
    object.add("block", nullptr);
  } else {
    object.add_object("block", JsonObject().add("source", step.block_source));
  }
  return object.add("outcome", step.outcome).text();
}

std::string as_json(const Explanation& explanation, const CommonOptions& options) {
  JsonObject object;
  add_user_bytes(object, "key", explanation.key, options);
  object.add("found", explanation.found);
  if (explanation.value) add_user_bytes(object, "value", *explanation.value, options);
  object.add("reads", explanation.reads)
      .add("metadata_reads", explanation.metadata_reads)
      .add("nanoseconds", explanation.nanoseconds);
  std::vector<std::string> steps;
  for (const Explanation::Step& step : explanation.steps) steps.push_back(step_json(step));
  return object.add_list("steps", steps).text();
}

}  // namespace

int run_explain(Arguments arguments) {
  StoreArguments store;
  std::string key;
  CommandLine line({.name = "explain",
                    .summary =
                        "Looks up a key and shows every step: memtables, runs and tables, filter answers, blocks "
                        "read, cost. Exits with status 0 whether or not the key is found.",
                    .usage = "DIR KEY",
                    .example = "  tamis explain cities rome",
                    .common = kJson | kHex});
  store.declare(line);
  line.operand("KEY", "the key", key);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  const DB db = store.open(StoreUse::kRead);
  const Explanation explanation = need(db.explain(key));
  print_report(line.common().json ? as_json(explanation, line.common()) + "\n" : explanation.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
