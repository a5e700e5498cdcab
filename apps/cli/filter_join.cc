// tamis filter union and intersect: two filters become one.
#include <fmt/core.h>

#include <string>

#include "command_line.h"
#include "error.h"
#include "filter_facts.h"
#include "files.h"
#include "interrupt.h"
#include "tamis/filter.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

MutableFilter open_mutable(const std::string& path) {
  if (path != "-") return need(MutableFilter::open(path));
  const std::string bytes = read_whole(path);
  return need(MutableFilter::from_bytes(std::as_bytes(std::span(bytes)), "standard input"));
}

int join(Arguments arguments, const VerbHelp& help, Status (MutableFilter::*combine)(const MutableFilter&)) {
  std::string a;
  std::string b;
  std::string output;
  CommandLine line(help);
  line.operand("A", "a filter in tamis's container, or - for standard input", a);
  line.operand("B", "another of the same kind, size and seed", b);
  line.option("-o,--output", "OUT", "the file to write, or - for standard output", output);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--output"});
  if (a == "-" && b == "-") usage_error("standard input can be A or B, not both");

  MutableFilter joined = open_mutable(a);
  const Status status = (joined.*combine)(open_mutable(b));
  if (!status.ok()) throw CommandError(exit_status_of(status.code()), fmt::format("{}, {}: {}", a, b, status.message()));
  const DelayInterrupt until_written;
  need(joined.save(output));
  report_written(output, facts_of(joined.info()), line.common());
  return kExitOk;
}

}  // namespace

int run_filter_union(Arguments arguments) {
  return join(arguments,
              {.name = "filter union",
               .summary = "Writes the filter that answers maybe for the keys of either. Both must have the same kind, "
                          "size and seed.",
               .usage = "A B -o OUT",
               .example = "  tamis filter union monday.tamis tuesday.tamis -o both.tamis"},
              &MutableFilter::merge);
}

int run_filter_intersect(Arguments arguments) {
  return join(arguments,
              {.name = "filter intersect",
               .summary = "Writes the filter that answers maybe where both do. Both must have the same kind, size and "
                          "seed. It errs a little more often than one built from the common keys.",
               .usage = "A B -o OUT",
               .example = "  tamis filter intersect monday.tamis tuesday.tamis -o common.tamis"},
              &MutableFilter::intersect);
}

}  // namespace tamis::cli
