// tamis filter probe: tests keys against a filter.

#include <string>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/filter/key_lines.h"
#include "cli/filter/opened_filter.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

/// Prints the answers, one by one.
class Answers {
 public:
  Answers(const OpenedFilter& filter, std::string item, const CommonOptions& options)
      : filter_(filter), item_(std::move(item)), options_(options) {}

  void print(std::string_view key) const {
    const std::string_view answer = filter_.may_contain(need(foreign::item_bytes(key, item_))) ? "maybe" : "no";
    Output& out = standard_output();
    if (options_.json) {
      JsonObject object;
      if (options_.hex) {
        object.add("key_hex", to_hex(key));
      } else {
        object.add_bytes("key", key);
      }
      out.print("{}\n", object.add("answer", answer).text());
      return;
    }
    out.write(options_.hex ? to_hex(key) : key);
    out.write("\t");
    out.write(answer);
    out.write("\n");
  }

 private:
  const OpenedFilter& filter_;
  std::string item_;
  const CommonOptions& options_;
};

}  // namespace

int run_filter_probe(Arguments arguments) {
  OpenArguments wanted;
  std::string item = "bytes";
  std::string keys_path;
  std::vector<std::string> keys;
  CommandLine line({.name = "filter probe",
                    .summary =
                        "Tests keys against a filter. Prints one line per key, in order: the key, a tab, and 'no' (the "
                        "key is certainly absent) or 'maybe'.",
                    .usage = "FILE [--format F] (--keys FILE | KEY...)",
                    .example = "  tamis filter probe words.tamis zebra okapi\n"
                               "  tamis filter probe words.tamis --keys candidates.txt",
                    .common = kJson | kHex | kQuiet | kNoProgress});
  wanted.declare(line);
  line.operands("KEY", "keys to test; after -- they may begin with '-'", keys);
  line.option("--keys", "FILE", "a file of keys, one per line, or - for standard input", keys_path);
  line.option("--item", "T", "type of the keys in the filter's system: bytes, string or long", item);
  if (!line.read(arguments)) return kExitOk;
  if (line.given("--keys") == !keys.empty()) usage_error("give keys either as operands or with --keys");
  if (wanted.path == "-" && keys_path == "-") usage_error("standard input can be the filter or the keys, not both");

  const OpenedFilter filter(wanted);
  const Answers answers(filter, item_as_read(item, line.common()), line.common());
  for (const std::string& key : keys) answers.print(key_of_operand(key, line.common()));
  if (keys_path.empty()) return kExitOk;
  KeyLines lines(keys_path, line.common());
  while (const auto key = lines.next()) {
    answers.print(*key);
    if (lines.must_read()) standard_output().flush();
  }
  return kExitOk;
}

}  // namespace tamis::cli
