// tamis filter formats: the registry of foreign formats as a table.
#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/foreign.h"

namespace tamis::cli {
namespace {

std::string as_json(const foreign::FormatInfo& format) {
  return JsonObject()
      .add("format", format.name)
      .add("system", format.system)
      .add("writable", format.writable)
      .add("self_describing", format.self_describing)
      .add("needs_bits_to_probe", format.needs_bits_to_probe)
      .add("needs_hashes_to_probe", format.needs_hashes_to_probe)
      .add("build_parameters", format.build_parameters)
      .add("summary", format.summary)
      .text();
}

std::string what_it_is(const foreign::FormatInfo& format) {
  std::string text = std::string(format.system) + ": " + std::string(format.summary);
  if (format.needs_bits_to_probe || format.needs_hashes_to_probe) {
    text += std::string("; to probe, give") + (format.needs_bits_to_probe ? " --bits" : "") +
            (format.needs_hashes_to_probe ? " --hashes" : "");
  }
  if (!format.build_parameters.empty()) text += "; build takes " + std::string(format.build_parameters);
  return text;
}

}  // namespace

int run_filter_formats(Arguments arguments) {
  CommandLine line({.name = "filter formats",
                    .summary = "Lists the filter files of other systems that tamis can read and, where noted, write "
                               "byte for byte.",
                    .usage = "",
                    .example = "  tamis filter formats",
                    .common = kJson});
  if (!line.read(arguments)) return kExitOk;
  Output& out = standard_output();
  if (line.common().json) {
    for (const foreign::FormatInfo& format : foreign::formats()) out.print("{}\n", as_json(format));
    return kExitOk;
  }
  Table table({{"format", Table::Align::kLeft}, {"can", Table::Align::kLeft}, {"what it is", Table::Align::kWrap}});
  for (const foreign::FormatInfo& format : foreign::formats()) {
    table.add({std::string(format.name), format.writable ? "read, write" : "read", what_it_is(format)});
  }
  out.write(table.text());
  return kExitOk;
}

}  // namespace tamis::cli
