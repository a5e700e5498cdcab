// tamis filter verify and rebuild: checks Cassandra's filters against their index.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/files.h"
#include "cli/filter/filter_file.h"
#include "cli/numbers.h"
#include "cli/verbs.h"
#include "tamis/foreign.h"

namespace tamis::cli {
namespace {

using foreign::VerifyReport;

struct VerifyArguments {
  std::string filter;
  std::string index;
  std::string format;
};

JsonObject as_json(const VerifyReport& report) {
  const auto key_json = [](const std::string& key) { return JsonObject().add_bytes("key", key); };
  return JsonObject()
      .add("ok", report.verdict == VerifyReport::Verdict::kOk)
      .add("verdict", foreign::to_string(report.verdict))
      .add("keys", report.keys)
      .add("missing", report.missing.size())
      .add("format", report.checked_format)
      .add("implied_format", report.implied_format.empty() ? std::nullopt : std::optional(report.implied_format))
      .add("fitting_formats", report.fitting_formats)
      .add_list("missing_keys", report.missing, key_json);
}

void print_missing(const std::vector<std::string>& missing, const CommonOptions& options) {
  constexpr std::size_t kShown = 20;
  Output& out = standard_output();
  out.write("missing:\n");
  for (std::size_t i = 0; i < std::min(missing.size(), kShown); ++i) {
    const bool as_text = !options.hex && is_printable(missing[i]);
    out.print("  {}\n", as_text ? missing[i] : "0x" + to_hex(missing[i]));
  }
  if (missing.size() > kShown) out.print("  and {} more; --json lists all\n", with_thousands(missing.size() - kShown));
}

std::string advice(const VerifyReport& report) {
  if (report.verdict == VerifyReport::Verdict::kLayoutMismatch) {
    return fmt::format("no key is missing when read as {}: the file has that layout, despite its name",
                       fmt::join(report.fitting_formats, " or "));
  }
  return "no layout fits: the filter is damaged or belongs to another index; 'tamis filter rebuild' builds a new one";
}

void print_report(const VerifyReport& report, const VerifyArguments& wanted, const CommonOptions& options) {
  Output& out = standard_output();
  const std::string keys = with_thousands(report.keys);
  if (report.verdict == VerifyReport::Verdict::kOk) {
    out.print("{}: ok, all {} keys of {} answer maybe ({})\n", wanted.filter, keys, wanted.index,
              report.checked_format);
    return;
  }
  out.print("{}: {}, {} of {} keys of {} are missing when read as {}\n", wanted.filter,
            foreign::to_string(report.verdict), with_thousands(report.missing.size()), keys, wanted.index,
            report.checked_format);
  out.print("{}\n", advice(report));
  if (!report.missing.empty()) print_missing(report.missing, options);
}

}  // namespace

int run_filter_verify(Arguments arguments) {
  VerifyArguments wanted;
  CommandLine line({.summary =
                        "Tests a Cassandra filter for every key of its index. Reads do not find a row whose key is "
                        "missing from the filter. Exits with status 1 if keys are missing and says which layout fits.",
                    .usage = "FILE --index INDEX [--format F]",
                    .example = "  tamis filter verify nb-1-big-Filter.db --index nb-1-big-Index.db",
                    .common = kJson | kHex});
  line.operand("FILE", "the Filter.db", wanted.filter);
  line.option("--index", "INDEX", "the Index.db beside it", wanted.index);
  line.option("--format", "F", "cassandra-new, cassandra-old or cassandra-old-h1h2; default: by file name",
              wanted.format);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--index"});
  const VerifyReport report = need(foreign::cassandra_verify(wanted.filter, wanted.index, wanted.format));
  if (line.common().json) {
    standard_output().write(as_json(report).line());
  } else {
    print_report(report, wanted, line.common());
  }
  return report.verdict == VerifyReport::Verdict::kOk ? kExitOk : kExitNo;
}

int run_filter_rebuild(Arguments arguments) {
  std::string index;
  std::string output;
  foreign::RebuildOptions options;
  CommandLine line({.summary = "Builds the Filter.db for a Cassandra Index.db, byte for byte as Cassandra writes it.",
                    .usage = "--from-index INDEX --format F [--expected-keys N] (--fpr P | --like FILTER) -o OUT",
                    .example = "  tamis filter rebuild --from-index nb-1-big-Index.db --format cassandra-new \\\n"
                               "      --fpr 0.01 -o nb-1-big-Filter.db",
                    .common = kJson | kQuiet});
  line.option("--from-index", "INDEX", "the Index.db with the keys", index);
  line.option("--format", "F", "cassandra-new, cassandra-old or cassandra-old-h1h2; default: by file name",
              options.format);
  line.option("--expected-keys", "N", "size for this many keys; default: those in the index", options.expected_keys,
              parse_count);
  line.option("--fpr", "P", "the table's bloom_filter_fp_chance", options.fpr, parse_rate_or_one);
  line.option("--like", "FILTER", "use the size and hashes of this Filter.db", options.like);
  line.option("-o,--output", "OUT", "the file to write, or - for standard output", output);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--from-index", "--output"});
  line.need_one_of({"--fpr", "--like"});
  const std::string bytes = need(foreign::cassandra_rebuild(index, options));
  write_whole(output, bytes);
  if (options.format.empty()) options.format = need(foreign::cassandra_format_of_name(index));
  report_written(output, facts_of_built(bytes, {.format = options.format}, std::nullopt), line.common());
  return kExitOk;
}

}  // namespace tamis::cli
