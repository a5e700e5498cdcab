// tamis filter build: a filter from a file of keys.
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>

#include "command_line.h"
#include "error.h"
#include "filter_facts.h"
#include "interrupt.h"
#include "key_lines.h"
#include "numbers.h"
#include "size_options.h"
#include "tamis/filter.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

struct BuildArguments {
  std::string kind;
  SizeOptions size;
  std::string keys_path;
  std::string output;
  std::string seed;
  bool is_keyed = false;
  std::string prefix_rule;
};

std::array<std::byte, 16> secret_key() {
  std::random_device source;
  std::array<std::byte, 16> key;
  for (std::byte& byte : key) byte = static_cast<std::byte>(source() & 0xff);
  return key;
}

FilterOptions options_of(const BuildArguments& wanted) {
  FilterOptions options;
  options.kind = wanted.kind;
  options.target_rate = wanted.size.rate;
  options.bits_per_key = wanted.size.bits_per_key;
  options.memory_bytes = wanted.size.memory_bytes;
  if (!wanted.seed.empty()) options.seed.seed = parse_count("--seed", wanted.seed);
  if (wanted.is_keyed) options.seed.key = secret_key();
  if (!wanted.prefix_rule.empty()) options.prefix_rule = need(PrefixRule::parse(wanted.prefix_rule));
  return options;
}

}  // namespace

int run_filter_build(Arguments arguments) {
  BuildArguments wanted;
  CommandLine line({.name = "filter build",
                    .summary = "Makes a filter from a file of keys.",
                    .usage = "--kind K (--fpr P | --bits-per-key B | --memory BYTES) --keys FILE -o OUT",
                    .example = "  tamis filter build --kind line --fpr 0.01 --keys words.txt -o words.tamis"});
  line.option("--kind", "K", "what to build; 'tamis filter kinds' lists them", wanted.kind);
  wanted.size.declare(line);
  line.option("--keys", "FILE", "the keys, one per line, or - for standard input", wanted.keys_path);
  line.option("-o,--output", "OUT", "the file to write, or - for standard output", wanted.output);
  line.option("--seed", "S", "hash with this public seed (0 unless told)", wanted.seed);
  line.flag("--keyed", "hash with 16 secret random bytes, against chosen keys", wanted.is_keyed);
  line.option("--prefix-rule", "R", "filter prefixes: none, first:N or until:C", wanted.prefix_rule);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--kind", "--keys", "--output"});
  if (wanted.is_keyed) line.refuse({"--seed"}, "and --keyed exclude each other");

  static_cast<void>(wanted.size.target(line));
  const FilterOptions options = options_of(wanted);
  need(filter_size(options.kind, 1, {}));  // Better to hear of a mistyped kind before an hour of keys is read.
  FilterBuilder builder(options);
  KeyLines lines(wanted.keys_path, line.common());
  while (const auto key = lines.next()) builder.add(*key);
  const Filter filter = need(builder.finish());
  const DelayInterrupt until_written;
  need(filter.save(wanted.output));
  report_written(wanted.output, facts_of(filter.info()), line.common());
  return kExitOk;
}

}  // namespace tamis::cli
