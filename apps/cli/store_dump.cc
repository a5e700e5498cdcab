// tamis dump: everything, as 'tamis load' reads it.
#include <fmt/core.h>

#include <cstdint>
#include <string_view>

#include "bytes_text.h"
#include "command_line.h"
#include "error.h"
#include "output.h"
#include "show/progress.h"
#include "store_common.h"
#include "tamis/db.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

/// Bytes that would be read back as something else are refused.
void check_line(std::string_view key, std::string_view value) {
  const bool key_breaks = key.find_first_of("\t\n") != std::string_view::npos;
  if (!key_breaks && value.find('\n') == std::string_view::npos) return;
  usage_error(
      fmt::format("the {} of the entry with the key (in hexadecimal) {} holds a {}, which would break its line; "
                  "use --hex",
                  key_breaks ? "key" : "value", to_hex(key),
                  key_breaks && key.find('\n') == std::string_view::npos ? "tab" : "line end"));
}

/// About as many as will be printed: those that were overwritten are counted, those in the journal are not.
std::uint64_t entries_in_tables(const DB& db) {
  std::uint64_t entries = 0;
  for (const Stats::Level& level : db.stats().levels) entries += level.entries;
  return entries;
}

}  // namespace

int run_dump(Arguments arguments) {
  StoreArguments store;
  CommandLine line({.name = "dump",
                    .summary =
                        "Prints every entry, as of one moment, as lines that 'tamis load' reads back. With --hex that "
                        "is byte for byte; without, it stops with status 2 at bytes that would break a line.",
                    .usage = "DIR",
                    .example = "  tamis dump cities --hex > cities.txt\n"
                               "  tamis load copy cities.txt --hex"});
  store.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  const DB db = store.open(StoreUse::kRead);
  // Where the entries themselves go to the terminal, they are progress enough.
  show::Progress progress("dumping", entries_in_tables(db), options.wants_progress() && !output_is_terminal());
  Iterator entry = db.scan({.fills_cache = false});
  for (; entry.valid(); entry.next()) {
    progress.count(1, "entries");
    progress.advance(1);
    if (!options.hex && !options.json) check_line(entry.key(), entry.value());
    print_entry(entry.key(), entry.value(), options);
  }
  need(entry.status());
  return kExitOk;
}

}  // namespace tamis::cli
