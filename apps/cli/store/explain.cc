// tamis explain: every step of a lookup.
#include <optional>
#include <string>

#include "cli/bytes_text.h"
#include "cli/store/common.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

JsonObject step_json(const Explanation::Step& step) {
  JsonObject object;
  object.add("where", step.where).add("level", step.level).add("run", step.run).add("table", step.table);
  std::optional<JsonObject> filter;
  if (!step.filter_verdict.empty()) {
    filter = JsonObject()
                 .add("kind", step.filter_kind)
                 .add("bits_per_key", step.bits_per_key)
                 .add("verdict", step.filter_verdict);
  }
  std::optional<JsonObject> block;
  if (!step.block_source.empty()) block = JsonObject().add("source", step.block_source);
  return object.add("filter", filter).add("block", block).add("outcome", step.outcome);
}

JsonObject as_json(const Explanation& explanation, const CommonOptions& options) {
  JsonObject object;
  object.add_bytes("key", explanation.key, options.hex).add("found", explanation.found);
  if (explanation.value) object.add_bytes("value", *explanation.value, options.hex);
  return object.add("reads", explanation.reads)
      .add("metadata_reads", explanation.metadata_reads)
      .add("nanoseconds", explanation.nanoseconds)
      .add_list("steps", explanation.steps, step_json);
}

}  // namespace

int run_explain(Arguments arguments) {
  StoreArguments store;
  std::string key;
  CommandLine line({.summary =
                        "Looks up a key and shows every step: memtables, runs and tables, filter answers, blocks "
                        "read, cost. Exits with status 0 whether or not the key is found.",
                    .usage = "DIR KEY",
                    .example = "  tamis explain cities rome",
                    .common = kJson | kHex});
  store.declare(line);
  line.operand("KEY", "the key", key);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  const Explanation explanation = need(store.open(StoreUse::kRead).explain(key));
  print_report(line.common().json ? as_json(explanation, line.common()).line() : explanation.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
