// tamis filter info: kind, size and fill of a filter file.
#include <fmt/core.h>

#include <string>

#include "cli/filter/opened_filter.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

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
