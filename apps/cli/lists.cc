// tamis filter kinds, tamis filter formats, tamis options: the library's registries as tables.
#include <array>
#include <string>
#include <string_view>

#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"
#include "tamis/options.h"

namespace tamis::cli {
namespace {

JsonObject as_json(const FilterKindInfo& kind) {
  return JsonObject()
      .add("kind", kind.name)
      .add("id", kind.id)
      .add("adds", kind.adds)
      .add("removes", kind.removes)
      .add("merges", kind.merges)
      .add("intersects", kind.intersects)
      .add("build_bytes_per_key", kind.build_bytes_per_key)
      .add("summary", kind.summary);
}

void add_to(Table& table, const FilterKindInfo& kind) {
  std::string abilities;
  const auto list = [&](bool can, std::string_view ability) {
    if (can) abilities += (abilities.empty() ? "" : ", ") + std::string(ability);
  };
  list(kind.adds, "add");
  list(kind.removes, "remove");
  list(kind.merges, "union");
  list(kind.intersects, "intersect");
  table.add({std::string(kind.name), abilities.empty() ? "built once" : abilities, std::string(kind.summary)});
}

JsonObject as_json(const foreign::FormatInfo& format) {
  return JsonObject()
      .add("format", format.name)
      .add("system", format.system)
      .add("writable", format.writable)
      .add("self_describing", format.self_describing)
      .add("needs_bits_to_probe", format.needs_bits_to_probe)
      .add("needs_hashes_to_probe", format.needs_hashes_to_probe)
      .add("build_parameters", format.build_parameters)
      .add("summary", format.summary);
}

void add_to(Table& table, const foreign::FormatInfo& format) {
  std::string text = std::string(format.system) + ": " + std::string(format.summary);
  if (format.needs_bits_to_probe || format.needs_hashes_to_probe) {
    text += std::string("; to probe, give") + (format.needs_bits_to_probe ? " --bits" : "") +
            (format.needs_hashes_to_probe ? " --hashes" : "");
  }
  if (!format.build_parameters.empty()) text += "; build takes " + std::string(format.build_parameters);
  table.add({std::string(format.name), format.writable ? "read, write" : "read", text});
}

JsonObject as_json(const OptionInfo& option) {
  return JsonObject()
      .add("name", option.name)
      .add("default", option.default_value)
      .add("range", option.range)
      .add("effect", option.effect);
}

void add_to(Table& table, const OptionInfo& option) {
  table.add({std::string(option.name), option.default_value, std::string(option.effect)});
  table.add({"", "", option.range});
}

/// A JSON object for each item, or a table of three columns; the last one wraps.
template <typename List>
int print_list(Arguments arguments, const VerbHelp& help, const std::array<std::string_view, 3>& headings,
               const List& items) {
  CommandLine line(help);
  if (!line.read(arguments)) return kExitOk;
  Table table(
      {{headings[0], Table::Align::kLeft}, {headings[1], Table::Align::kLeft}, {headings[2], Table::Align::kWrap}});
  for (const auto& item : items) {
    if (line.common().json) {
      standard_output().write(as_json(item).line());
    } else {
      add_to(table, item);
    }
  }
  if (!line.common().json) standard_output().write(table.text());
  return kExitOk;
}

}  // namespace

int run_filter_kinds(Arguments arguments) {
  return print_list(arguments,
                    {.summary = "Lists the filter kinds of this build and when to choose each. Any of them can hold "
                                "prefixes of keys, for scans: see --prefix-rule of filter build.",
                     .example = "  tamis filter kinds",
                     .common = kJson},
                    {"kind", "can", "when to choose it"}, filter_kinds());
}

int run_filter_formats(Arguments arguments) {
  return print_list(arguments,
                    {.summary = "Lists the filter files of other systems that tamis can read and, where noted, write "
                                "byte for byte.",
                     .example = "  tamis filter formats",
                     .common = kJson},
                    {"format", "can", "what it is"}, foreign::formats());
}

int run_options(Arguments arguments) {
  return print_list(arguments,
                    {.summary = "Lists the options of a store with their defaults, values and effects. They are not "
                                "stored: a store may be opened with others next time. A keyspace stores those that "
                                "it sets for itself: see 'tamis keyspaces'.",
                     .example = "  tamis options\n"
                                "  tamis load cities cities.txt --option codec_last=zstd --option fanout=8",
                     .common = kJson},
                    {"option", "default", "effect"}, option_table());
}

}  // namespace tamis::cli
