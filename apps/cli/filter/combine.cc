// tamis filter union, intersect and convert: a filter from other filters.
#include <fmt/core.h>

#include <string>

#include "cli/files.h"
#include "cli/filter/filter_file.h"
#include "cli/interrupt.h"
#include "cli/verbs.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"

namespace tamis::cli {
namespace {

Result<MutableFilter> open_mutable(const std::string& path) {
  if (path != "-") return MutableFilter::open(path);
  InputFile input(path);
  const std::string bytes = read_rest(input);
  return MutableFilter::from_bytes(std::as_bytes(std::span(bytes)), "standard input");
}

/// Names the file in the message unless the library did.
void need_named(const Status& status, const std::string& name) {
  if (status.ok()) return;
  if (status.message().starts_with(name) || status.message().starts_with("standard input")) need(status);
  throw CommandError(exit_status_of(status.code()), fmt::format("{}: {}", name, status.message()));
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

  Result<MutableFilter> joined = open_mutable(a);
  need_named(joined.status(), a);
  const Result<MutableFilter> other = open_mutable(b);
  need_named(other.status(), b);
  need_named(((*joined).*combine)(*other), fmt::format("{}, {}", a, b));
  const DelayInterrupt until_written;
  need(joined->save(output));
  report_written(output, facts_of(joined->info()), line.common());
  return kExitOk;
}

}  // namespace

int run_filter_union(Arguments arguments) {
  return join(arguments,
              {.summary = "Writes a filter that answers maybe for the keys of either. Both must have the same kind, "
                          "size and seed.",
               .usage = "A B -o OUT",
               .example = "  tamis filter union monday.tamis tuesday.tamis -o both.tamis",
               .common = kJson | kQuiet},
              &MutableFilter::merge);
}

int run_filter_intersect(Arguments arguments) {
  return join(arguments,
              {.summary = "Writes a filter that answers maybe where both do. Both must have the same kind, size and "
                          "seed. It errs slightly more often than a filter built from the common keys.",
               .usage = "A B -o OUT",
               .example = "  tamis filter intersect monday.tamis tuesday.tamis -o common.tamis",
               .common = kJson | kQuiet},
              &MutableFilter::intersect);
}

int run_filter_convert(Arguments arguments) {
  OpenArguments from;
  std::string to;
  std::string output;
  CommandLine line({.summary = "Writes a filter in another format that sets the same bits for a key: cassandra-old and "
                               "cassandra-new; go-bloom and its JSON; go-article in its three forms; sbbf, sbbf-thrift "
                               "and, read-only, parquet. Other filters must be built from their keys.",
                    .usage = "FILE --to F -o OUT",
                    .example = "  tamis filter convert mc-1-big-Filter.db --to cassandra-new -o Filter.db",
                    .common = kJson | kQuiet});
  from.declare(line);
  line.option("--to", "F", "the format to write; 'tamis filter formats' lists them", to);
  line.option("-o,--output", "OUT", "the file to write, or - for standard output", output);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--to", "--output"});
  const OpenedFilter filter(from);
  const std::string bytes = filter.convert_to(to);
  foreign::OpenOptions open;
  open.format = to;
  for (const foreign::FormatInfo& format : foreign::formats()) {
    if (format.name == to && format.needs_hashes_to_probe) open.hashes = filter.facts().hashes;
  }
  write_whole(output, bytes);
  report_written(output, facts_of_built(bytes, open, std::nullopt), line.common());
  return kExitOk;
}

}  // namespace tamis::cli
