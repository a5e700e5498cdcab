// tamis filter kinds: the registry of kinds as a table.
#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/filter.h"

namespace tamis::cli {
namespace {

std::string abilities(const FilterKindInfo& kind) {
  std::string text;
  const auto list = [&](bool can, std::string_view ability) {
    if (can) text += (text.empty() ? "" : ", ") + std::string(ability);
  };
  list(kind.adds, "add");
  list(kind.removes, "remove");
  list(kind.merges, "union");
  list(kind.intersects, "intersect");
  return text.empty() ? "built once" : text;
}

std::string as_json(const FilterKindInfo& kind) {
  return JsonObject()
      .add("kind", kind.name)
      .add("id", kind.id)
      .add("adds", kind.adds)
      .add("removes", kind.removes)
      .add("merges", kind.merges)
      .add("intersects", kind.intersects)
      .add("build_bytes_per_key", kind.build_bytes_per_key)
      .add("summary", kind.summary)
      .text();
}

}  // namespace

int run_filter_kinds(Arguments arguments) {
  CommandLine line({.name = "filter kinds",
                    .summary = "Lists the filter kinds of this build and when to choose each. Any of them can hold "
                               "prefixes of keys, for scans: see --prefix-rule of filter build.",
                    .usage = "",
                    .example = "  tamis filter kinds",
                    .common = kJson});
  if (!line.read(arguments)) return kExitOk;
  Output& out = standard_output();
  if (line.common().json) {
    for (const FilterKindInfo& kind : filter_kinds()) out.print("{}\n", as_json(kind));
    return kExitOk;
  }
  Table table(
      {{"kind", Table::Align::kLeft}, {"can", Table::Align::kLeft}, {"when to choose it", Table::Align::kWrap}});
  for (const FilterKindInfo& kind : filter_kinds()) {
    table.add({std::string(kind.name), abilities(kind), std::string(kind.summary)});
  }
  out.write(table.text());
  return kExitOk;
}

}  // namespace tamis::cli
