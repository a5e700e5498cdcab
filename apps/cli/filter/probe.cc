// tamis filter probe and info: tests keys against a filter; shows its kind, size and fill.
#include <fmt/core.h>

#include <string>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/filter/filter_file.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/table.h"
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

constexpr std::size_t kBarWidth = 24;

std::string keys_text(const FilterFacts& facts) {
  if (facts.keys) return with_thousands(*facts.keys);
  const auto estimate = facts.best_keys();
  return estimate ? fmt::format("about {}, estimated from the fill", with_thousands(*estimate)) : "unknown";
}

std::string seed_text(const FilterFacts& facts) {
  if (facts.is_keyed) return "keyed, with 16 bytes in the file";
  return facts.seed ? fmt::format("public, {}", *facts.seed) : "public";
}

std::string describe(const FilterFacts& facts) {
  Table table({{"", Table::Align::kLeft}, {"", Table::Align::kLeft}});
  const auto line = [&](std::string name, std::string text) { table.add({std::move(name), std::move(text)}); };
  const auto per_key = facts.bits_per_key();
  if (facts.kind) line("kind", *facts.kind);
  line("format", facts.format);
  if (!facts.detail.empty()) line("layout", facts.detail);
  line("keys", keys_text(facts));
  line("bits", with_thousands(facts.bits) + (per_key ? fmt::format(", {:.2f} per key", *per_key) : ""));
  line("hashes", std::to_string(facts.hashes));
  line("bytes", fmt::format("{} ({})", with_thousands(facts.bytes), human_bytes(facts.bytes)));
  line("fill", fmt::format("{} {:.1f} %", bar(facts.fill, kBarWidth), 100 * facts.fill));
  line("rate", fmt::format("{} estimated", human_rate(facts.estimated_rate)) +
                   (facts.designed_rate ? fmt::format(", {} designed", human_rate(*facts.designed_rate)) : ""));
  line("seed", seed_text(facts));
  if (!facts.prefix_rule.empty()) line("prefix", facts.prefix_rule);
  return table.text();
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

int run_filter_info(Arguments arguments) {
  OpenArguments wanted;
  CommandLine line({.summary = "Shows a filter file's kind, size, fill and false-positive rate.",
                    .usage = "FILE [--format F]",
                    .example = "  tamis filter info words.tamis\n"
                               "  tamis filter info nb-1-big-Filter.db",
                    .common = kJson});
  wanted.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const FilterFacts facts = OpenedFilter(wanted).facts();
  standard_output().write(line.common().json ? facts.json().line() : describe(facts));
  return kExitOk;
}

}  // namespace tamis::cli
