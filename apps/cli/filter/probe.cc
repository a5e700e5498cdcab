// tamis filter probe: tests keys against a filter.

#include <string>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/filter/opened_filter.h"
#include "cli/lines.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

void print_answer(std::string_view key, bool may_contain, const CommonOptions& options) {
  const std::string_view answer = may_contain ? "maybe" : "no";
  Output& out = standard_output();
  if (options.json) {
    out.write(JsonObject().add_bytes("key", key, options.hex).add("answer", answer).line());
    return;
  }
  out.write(options.hex ? to_hex(key) : key);
  out.write("\t");
  out.write(answer);
  out.write("\n");
}

}  // namespace

int run_filter_probe(Arguments arguments) {
  OpenArguments wanted;
  std::string item = "bytes";
  std::string keys_path;
  std::vector<std::string> keys;
  CommandLine line({.summary =
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
  item = item_as_read(item, line.common());
  const auto probe = [&](std::string_view key) {
    print_answer(key, filter.may_contain(need(foreign::item_bytes(key, item))), line.common());
  };
  for (const std::string& key : keys) probe(bytes_of_word(key, "the key", line.common()));
  if (keys_path.empty()) return kExitOk;
  KeyLines lines(keys_path, line.common());
  while (const auto key = lines.next()) {
    probe(*key);
    if (lines.must_read()) standard_output().flush();
  }
  return kExitOk;
}

}  // namespace tamis::cli
