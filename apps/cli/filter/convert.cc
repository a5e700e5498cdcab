// tamis filter convert: the same bits in another format.
#include <string>

#include "cli/files.h"
#include "cli/filter/facts.h"
#include "cli/filter/opened_filter.h"
#include "cli/verbs.h"
#include "tamis/foreign.h"

namespace tamis::cli {

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
