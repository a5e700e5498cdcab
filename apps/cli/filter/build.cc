// tamis filter build: a filter from a file of keys, in tamis's container or another system's format.

#include <array>
#include <cstddef>
#include <random>
#include <string>

#include "cli/files.h"
#include "cli/filter/filter_file.h"
#include "cli/filter/size_options.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/verbs.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"

namespace tamis::cli {
namespace {

struct BuildArguments {
  SizeOptions size;
  std::string keys_path;
  std::string output;
  std::string seed;
  // For a tamis kind:
  std::string kind;
  bool is_keyed = false;
  std::string prefix_rule;
  // For another system's format; common options are filled in later.
  foreign::BuildOptions foreign;
};

void declare(CommandLine& line, BuildArguments& wanted) {
  foreign::BuildOptions& foreign = wanted.foreign;
  line.option("--kind", "K", "a tamis filter; 'tamis filter kinds' lists the kinds", wanted.kind);
  line.option("--format", "F", "or another system's, byte for byte; 'tamis filter formats' lists them", foreign.format);
  line.option("--keys", "FILE", "the keys, one per line, or - for standard input", wanted.keys_path);
  line.option("-o,--output", "OUT", "the file to write, or - for standard output", wanted.output);
  wanted.size.declare(line, parse_rate_or_one);
  line.option("--seed", "S", "hash with this public seed; default: 0", wanted.seed);
  line.flag("--keyed", "hash with 16 secret random bytes, against adversarial keys", wanted.is_keyed);
  line.option("--prefix-rule", "R", "filter prefixes: none, first:N or until:C", wanted.prefix_rule);
  line.option("--expected-keys", "N", "format: size for this many keys; default: those given", foreign.expected_keys,
              parse_count);
  line.option("--bits", "M", "format: number of bits", foreign.bits, parse_count);
  line.option("--hashes", "K", "format: number of hashes", foreign.hashes, parse_count);
  line.option("--words", "W", "format: number of 64-bit words", foreign.words, parse_count);
  line.option("--blocks", "N", "format: number of 32-byte blocks", foreign.blocks, parse_count);
  line.option("--item", "T", "format: type of the keys: bytes, string or long", foreign.item);
  line.option("--variant", "V", "format: spark V1 or V2, rocksdb-raw 4 or 5, guava 64", foreign.variant);
}

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

void build_own(const BuildArguments& wanted, const CommandLine& line) {
  line.refuse({"--expected-keys", "--bits", "--hashes", "--words", "--blocks", "--item", "--variant"},
              "goes with --format, not with --kind");
  wanted.size.check(line);
  if (wanted.is_keyed) line.refuse({"--seed"}, "and --keyed are mutually exclusive");
  const FilterOptions options = options_of(wanted);
  need(filter_size(options.kind, 1, {}));  // Report a mistyped kind before reading all keys.

  FilterBuilder builder(options);
  KeyLines lines(wanted.keys_path, line.common());
  while (const auto key = lines.next()) builder.add(*key);
  const Filter filter = need(builder.finish());
  const DelayInterrupt until_written;
  need(filter.save(wanted.output));
  report_written(wanted.output, facts_of(filter.info()), line.common());
  const std::string hint = hint_of_smaller_kind(wanted.kind, filter.info().keys, wanted.size.target());
  if (!hint.empty() && !line.common().quiet) report_note(hint);
}

void build_foreign(const BuildArguments& wanted, const CommandLine& line) {
  line.refuse({"--memory", "--keyed", "--prefix-rule"}, "goes with --kind, not with --format");
  foreign::BuildOptions options = wanted.foreign;
  options.fpr = wanted.size.rate;
  options.bits_per_key = wanted.size.bits_per_key;
  if (!wanted.seed.empty()) options.seed = parse_integer("--seed", wanted.seed);
  options.item = item_as_read(options.item, line.common());
  std::vector<std::string> keys;
  KeyLines lines(wanted.keys_path, line.common());
  while (const auto key = lines.next()) keys.emplace_back(*key);
  const std::string bytes = need(foreign::build(keys, options));
  write_whole(wanted.output, bytes);
  report_written(wanted.output,
                 facts_of_built(bytes, need(foreign::open_options_of_built(keys.size(), options)), keys.size()),
                 line.common());
}

}  // namespace

int run_filter_build(Arguments arguments) {
  BuildArguments wanted;
  CommandLine line(
      {.summary = "Builds a filter from a file of keys: one of tamis's kinds, or exactly the bytes that another "
                  "system would write.",
       .usage = "(--kind K [--fpr P | --bits-per-key B | --memory BYTES] | --format F ...) --keys FILE -o OUT",
       .example = "  tamis filter build --kind line --fpr 0.01 --keys words.txt -o words.tamis\n"
                  "  tamis filter build --format guava --fpr 0.01 --keys words.txt -o words.guava",
       .common = kJson | kHex | kQuiet | kNoProgress});
  declare(line, wanted);
  if (!line.read(arguments)) return kExitOk;
  line.need_one_of({"--kind", "--format"});
  line.need_all({"--keys", "--output"});
  if (wanted.size.rate == 1.0 && !wanted.foreign.format.starts_with("cassandra-")) parse_rate("--fpr", "1");
  if (line.given("--kind")) {
    build_own(wanted, line);
  } else {
    build_foreign(wanted, line);
  }
  return kExitOk;
}

}  // namespace tamis::cli
