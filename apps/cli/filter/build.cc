// tamis filter build, tamis filter size: a filter from a file of keys, in tamis's container or another system's format;
// and the sizes of all kinds, before building.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/filter/filter_file.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/filter.h"
#include "tamis/filter_math.h"
#include "tamis/foreign.h"

namespace tamis::cli {
namespace {

/// --fpr, --bits-per-key and --memory: three ways to size a filter.
struct SizeOptions {
  std::optional<double> rate;
  std::optional<double> bits_per_key;
  std::optional<std::uint64_t> memory_bytes;

  void declare(CommandLine& line, double (*parse)(std::string_view, std::string_view)) {
    line.option("--fpr", "P", "max false-positive rate; 0.01 if no size is given", rate, parse);
    line.option("--bits-per-key", "B", "this many bits per key", bits_per_key, parse_positive);
    line.option("--memory", "BYTES", "max total size; K, M and G are 1024, 1024² and 1024³", memory_bytes, parse_bytes);
  }
  /// Call after reading `line`; usage_error if several were given.
  void check(const CommandLine& line) const {
    if (rate || bits_per_key || memory_bytes) line.need_one_of({"--fpr", "--bits-per-key", "--memory"});
  }
  /// The target given, or the library's default, a rate of 1 %.
  [[nodiscard]] SizeTarget target() const {
    if (rate) return {SizeTarget::Measure::kRate, *rate};
    if (bits_per_key) return {SizeTarget::Measure::kBitsPerKey, *bits_per_key};
    if (memory_bytes) return {SizeTarget::Measure::kMemory, static_cast<double>(*memory_bytes)};
    return {};
  }
};

/// A hint if the chosen kind takes half as much again as ribbon for this rate; otherwise empty.
std::string hint_of_smaller_kind(std::string_view kind, std::uint64_t keys, SizeTarget target) {
  constexpr double kNotable = 1.5;
  if (target.measure != SizeTarget::Measure::kRate || kind != "line") return {};
  const Result<FilterSize> own = filter_size(kind, keys, target);
  const Result<FilterSize> ribbon = filter_size("ribbon", keys, target);
  if (!own.ok() || !ribbon.ok() || own->bits_per_key() < kNotable * ribbon->bits_per_key()) return {};
  return fmt::format("at this rate line takes {:.1f} bits per key; ribbon would take {:.1f}", own->bits_per_key(),
                     ribbon->bits_per_key());
}

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

struct KindSize {
  std::string_view kind;
  Result<FilterSize> size;
};

JsonObject as_json(const KindSize& row) {
  JsonObject object;
  object.add("kind", row.kind);
  if (row.size.ok()) {
    object.add("bits_per_key", row.size->bits_per_key()).add("hashes", row.size->hashes).add("bytes", row.size->bytes);
    object.add("fpr", row.size->rate).add("bound_ratio", row.size->bound_ratio());
  } else {
    for (const char* field : {"bits_per_key", "hashes", "bytes", "fpr", "bound_ratio"}) object.add(field, nullptr);
    object.add("note", row.size.status().message());
  }
  return object;
}

std::vector<std::string> as_cells(const KindSize& row) {
  if (!row.size.ok()) return {std::string(row.kind), "-", "-", "-", "-", "-", "-"};
  const FilterSize& size = *row.size;
  return {std::string(row.kind),
          fmt::format("{:.2f}", size.bits_per_key()),
          std::to_string(size.hashes),
          with_thousands(size.bytes),
          human_bytes(size.bytes),
          human_rate(size.rate),
          fmt::format("{:.3f}", size.bound_ratio())};
}

void print_table(const std::vector<KindSize>& rows) {
  Table table({{"kind", Table::Align::kLeft}, {"bits/key"}, {"k"}, {"bytes"}, {""}, {"predicted"}, {"x bound"}});
  for (const KindSize& row : rows) table.add(as_cells(row));
  Output& out = standard_output();
  out.write(table.text());
  out.write(
      "\nk: hashes per key, or bits per fingerprint.\n"
      "x bound: bits/key relative to log2(1/rate), the minimum for any filter.\n");
  for (const KindSize& row : rows) {
    if (!row.size.ok()) out.print("{}\n", row.size.status().message());
  }
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

int run_filter_size(Arguments arguments) {
  std::optional<std::uint64_t> keys;
  std::string kind;
  SizeOptions size;
  CommandLine line({.summary = "Computes the size of a filter, for all kinds side by side or for one.",
                    .usage = "--keys N [--fpr P | --bits-per-key B | --memory BYTES] [--kind K]",
                    .example = "  tamis filter size --keys 1000000 --fpr 0.01",
                    .common = kJson});
  line.option("--keys", "N", "number of keys", keys, parse_count);
  size.declare(line, parse_rate);
  line.option("--kind", "K", "only this kind; 'tamis filter kinds' lists them", kind);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--keys"});
  size.check(line);
  const SizeTarget target = size.target();

  std::vector<KindSize> rows;
  if (!kind.empty()) {
    rows.push_back({kind, need(filter_size(kind, *keys, target))});
  } else {
    for (const FilterKindInfo& info : filter_kinds()) {
      rows.push_back({info.name, filter_size(info.name, *keys, target)});
    }
  }
  // If no kind can do it (too many keys, say), that is an error, not a table of dashes.
  if (std::ranges::none_of(rows, [](const KindSize& row) { return row.size.ok(); })) need(rows.front().size);
  if (!line.common().json) {
    print_table(rows);
    const std::string hint = hint_of_smaller_kind(kind, *keys, target);
    if (!hint.empty()) standard_output().print("{}\n", hint);
    return kExitOk;
  }
  for (const KindSize& row : rows) standard_output().write(as_json(row).line());
  return kExitOk;
}

}  // namespace tamis::cli
