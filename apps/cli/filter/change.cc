// tamis filter add, tamis filter remove: change a mutable filter in its file.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/files.h"
#include "cli/filter/filter_file.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/verbs.h"
#include "tamis/mutable_filter_file.h"

namespace tamis::cli {
namespace {

struct ChangeArguments {
  std::string path;
  std::string keys_path;
  std::vector<std::string> keys;

  void declare(CommandLine& line) {
    line.operand("FILE", "a filter in tamis's container, of a kind to which keys can be added", path);
    line.operands("KEY", "the keys; after -- they may begin with '-'", keys);
    line.option("--keys", "FILE", "a file of keys, one per line, or - for standard input", keys_path);
  }
  void check(const CommandLine& line) const {
    if (line.given("--keys") == !keys.empty()) usage_error("give keys either as operands or with --keys");
  }
  /// Calls f with each key.
  template <typename Function>
  void each_key(const CommandLine& line, Function f) const {
    for (const std::string& key : keys) f(bytes_of_word(key, "the key", line.common()));
    if (keys_path.empty()) return;
    KeyLines lines(keys_path, line.common());
    while (const auto key = lines.next()) f(*key);
  }
};

/// Calls change(file, key), which returns how much it changed, for each key, makes the changes durable and reports
/// them.
template <typename Change>
int change_keys(Arguments arguments, const VerbHelp& help, std::string_view done, Change change) {
  ChangeArguments wanted;
  CommandLine line(help);
  wanted.declare(line);
  if (!line.read(arguments)) return kExitOk;
  wanted.check(line);
  MutableFilterFile file = need(MutableFilterFile::open(wanted.path));
  std::uint64_t changed = 0;
  wanted.each_key(line, [&](std::string_view key) { changed += change(file, key); });
  const FilterFacts facts = facts_of(file.filter().info());
  const DelayInterrupt until_written;
  need(file.close());
  if (line.common().json) {
    standard_output().write(JsonObject().add(done, changed).add("keys", facts.keys.value_or(0)).line());
  } else if (!line.common().quiet) {
    standard_output().write(fmt::format("{} {}; {}\n", changed, done, facts.summary()));
  }
  return kExitOk;
}

}  // namespace

int run_filter_add(Arguments arguments) {
  return change_keys(
      arguments,
      {.summary = "Adds keys to a filter in its file. They are durable when the command returns, and none "
                  "is lost if it is killed.",
       .usage = "FILE (--keys FILE | KEY...)",
       .example = "  tamis filter build --kind growing --fpr 0.001 --keys /dev/null -o seen.tamis\n"
                  "  tamis filter add seen.tamis zebra okapi",
       .common = kJson | kHex | kQuiet | kNoProgress},
      "added", [](MutableFilterFile& file, std::string_view key) -> std::uint64_t {
        need(file.add(key));
        return 1;
      });
}

int run_filter_remove(Arguments arguments) {
  return change_keys(
      arguments,
      {.summary = "Removes one copy of each key from a filter in its file. Remove only keys that were added: otherwise "
                  "another key may be lost.",
       .usage = "FILE (--keys FILE | KEY...)",
       .example = "  tamis filter remove seen.tamis zebra",
       .common = kJson | kHex | kQuiet | kNoProgress},
      "removed",
      [](MutableFilterFile& file, std::string_view key) -> std::uint64_t { return need(file.remove(key)) ? 1 : 0; });
}

}  // namespace tamis::cli
