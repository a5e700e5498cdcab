// tamis scan: keys in order.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>

#include "command_line.h"
#include "error.h"
#include "json.h"
#include "numbers.h"
#include "output.h"
#include "store_common.h"
#include "tamis/db.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

void print_key(std::string_view key, const CommonOptions& options) {
  if (options.json) {
    JsonObject object;
    add_user_bytes(object, "key", key, options);
    standard_output().print("{}\n", object.add("found", true).text());
  } else {
    standard_output().print("{}\n", shown(key, options));
  }
}

}  // namespace

int run_scan(Arguments arguments) {
  StoreArguments store;
  std::string prefix;
  std::string from;
  std::string to;
  std::optional<std::uint64_t> limit;
  bool reverse = false;
  bool keys_only = false;
  CommandLine line({.name = "scan",
                    .summary = "Prints keys and values in order, a tab between them, one entry per line.",
                    .usage = "DIR [--prefix P] [--from A] [--to B] [--limit N] [--reverse] [--keys-only]",
                    .example = "  tamis scan cities --prefix p --limit 10\n"
                               "  tamis scan cities --from lyon --to paris --reverse"});
  store.declare(line);
  line.option("--prefix", "P", "keys that begin with this", prefix);
  line.option("--from", "A", "keys from this one on", from);
  line.option("--to", "B", "keys before this one", to);
  line.option("--limit", "N", "at most so many", limit, parse_count);
  line.flag("--reverse", "from the last to the first", reverse);
  line.flag("--keys-only", "no values", keys_only);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  prefix = bytes_of_word(prefix, "--prefix:", options);
  from = bytes_of_word(from, "--from:", options);
  to = bytes_of_word(to, "--to:", options);
  ScanOptions range = {.prefix = prefix, .reverse = reverse, .fills_cache = false};
  if (line.given("--from")) range.from = from;
  if (line.given("--to")) range.to = to;

  const DB db = store.open(StoreUse::kRead);
  Iterator entry = db.scan(range);
  std::uint64_t printed = 0;
  while (entry.valid() && (!limit || printed < *limit)) {
    if (keys_only) {
      print_key(entry.key(), options);
    } else {
      print_entry(entry.key(), entry.value(), options);
    }
    ++printed;
    entry.advance();
  }
  need(entry.status());
  return kExitOk;
}

}  // namespace tamis::cli
