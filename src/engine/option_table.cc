// The table of options: names, values and effects. set_option, get_option, check_options, the command's --option and
// docs/OPTIONS.md all use it.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/nearest_word.h"
#include "base/try.h"
#include "compaction/policy.h"
#include "engine/option_values.h"
#include "entry/merge_operators.h"
#include "table/codec.h"
#include "tamis/filter.h"
#include "tamis/options.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

struct Row {
  std::string_view name;
  std::string_view effect;
  std::string range;
  /// False if the text does not parse; `accepts` checks the range.
  bool (*read)(Options& options, std::string_view text);
  std::string (*write)(const Options& options);
  bool (*accepts)(const Options& options);
};

// One kind of row per value type, from the member it sets.

template <auto kMember>
bool read_size(Options& options, std::string_view text) {
  const std::optional<std::uint64_t> bytes = parse_size(text);
  using Value = std::remove_reference_t<decltype(options.*kMember)>;
  if (!bytes || *bytes > std::numeric_limits<Value>::max()) return false;
  options.*kMember = static_cast<Value>(*bytes);
  return true;
}

template <auto kMember, std::uint64_t kLow, std::uint64_t kHigh>
Row size_row(std::string_view name, std::string_view effect) {
  return {.name = name,
          .effect = effect,
          .range = fmt::format("{} to {}", size_text(kLow), size_text(kHigh)),
          .read = read_size<kMember>,
          .write = [](const Options& options) { return size_text(options.*kMember); },
          .accepts = [](const Options& options) { return options.*kMember >= kLow && options.*kMember <= kHigh; }};
}

template <auto kMember, std::uint32_t kLow, std::uint32_t kHigh>
Row number_row(std::string_view name, std::string_view effect) {
  const auto read = [](Options& options, std::string_view text) {
    const std::optional<std::uint64_t> value = parse_whole_number(text);
    if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return false;
    options.*kMember = static_cast<std::uint32_t>(*value);
    return true;
  };
  return {.name = name,
          .effect = effect,
          .range = fmt::format("{} to {}", kLow, kHigh),
          .read = read,
          .write = [](const Options& options) { return std::to_string(options.*kMember); },
          .accepts = [](const Options& options) { return options.*kMember >= kLow && options.*kMember <= kHigh; }};
}

template <auto kMember, std::vector<std::string_view> (*kWords)()>
Row word_row(std::string_view name, std::string_view effect) {
  const auto read = [](Options& options, std::string_view text) {
    options.*kMember = std::string(text);
    return true;
  };
  const auto accepts = [](const Options& options) {
    const std::vector<std::string_view> words = kWords();
    return std::find(words.begin(), words.end(), options.*kMember) != words.end();
  };
  return {.name = name,
          .effect = effect,
          .range = fmt::format("{}", fmt::join(kWords(), ", ")),
          .read = read,
          .write = [](const Options& options) { return options.*kMember; },
          .accepts = accepts};
}

// Words come from the registries, so that a new codec or policy becomes a value once registered.

std::vector<std::string_view> codec_words() {
  std::vector<std::string_view> words;
  for (const Codec& codec : codecs()) words.push_back(codec.name);
  return words;
}

std::vector<std::string_view> filter_words() {
  std::vector<std::string_view> words = {"auto", "none"};
  for (const FilterKindInfo& kind : filter_kinds()) words.push_back(kind.name);
  return words;
}

std::vector<std::string_view> compaction_words() {
  std::vector<std::string_view> words;
  for (const CompactionPolicy& policy : compaction_policies()) words.push_back(policy.name);
  return words;
}

std::vector<std::string_view> journal_words() { return {"auto", "write", "mapped"}; }

Row filter_memory_row() {
  const auto read = [](Options& options, std::string_view text) {
    options.filter_memory = parse_size(text);
    return text == "auto" || options.filter_memory.has_value();
  };
  const auto write = [](const Options& options) {
    return options.filter_memory ? size_text(*options.filter_memory) : std::string("auto");
  };
  return {.name = "filter_memory",
          .effect =
              "Memory for all filters, divided among the runs by the filter plan; auto is 10 bits per key, at most "
              "a quarter of memory_bytes.",
          .range = "auto, or 0 to memory_bytes",
          .read = read,
          .write = write,
          .accepts = [](const Options& options) {
            return !options.filter_memory || *options.filter_memory <= options.memory_bytes;
          }};
}

Row prefix_rule_row() {
  const auto read = [](Options& options, std::string_view text) {
    const Result<PrefixRule> rule = PrefixRule::parse(text);
    if (rule.ok()) options.prefix_rule = *rule;
    return rule.ok();
  };
  const auto accepts = [](const Options& options) {
    const Result<PrefixRule> again = PrefixRule::parse(options.prefix_rule.to_text());
    return again.ok() && *again == options.prefix_rule;
  };
  return {.name = "prefix_rule",
          .effect = "Gives new tables a second filter, over key prefixes; scans of one prefix skip tables without it.",
          .range = "none, first:N (N from 1 to 65535), until:C (one character or 0xHH)",
          .read = read,
          .write = [](const Options& options) { return options.prefix_rule.to_text(); },
          .accepts = accepts};
}

Row default_expiry_row() {
  const auto read = [](Options& options, std::string_view text) {
    const std::optional<std::chrono::milliseconds> time = parse_time(text);
    options.default_expiry = time.value_or(std::chrono::milliseconds());
    return text == "never" || time.has_value();
  };
  const auto write = [](const Options& options) {
    return options.default_expiry.count() == 0 ? std::string("never") : time_text(options.default_expiry);
  };
  return {.name = "default_expiry",
          .effect = "How long after a put its value expires, unless the put says otherwise.",
          .range = "never, or a number of ms, s, min, h or d",
          .read = read,
          .write = write,
          .accepts = [](const Options& options) {
            return options.default_expiry.count() == 0 || parse_time(time_text(options.default_expiry)).has_value();
          }};
}

Row merge_operator_row() {
  return {.name = "merge_operator",
          .effect = "What merge does; stored with the first merge and fixed from then on.",
          .range = fmt::format("none, {}, or one that the program registers", fmt::join(merge_operator_names(), ", ")),
          .read =
              [](Options& options, std::string_view text) {
                options.merge_operator = text == "none" ? std::string_view() : text;
                return true;
              },
          .write =
              [](const Options& options) {
                return options.merge_operator.empty() ? std::string("none") : options.merge_operator;
              },
          .accepts =
              [](const Options& options) {
                return options.merge_operator.empty() || check_operator_name(options.merge_operator).ok();
              }};
}

template <auto kMember>
Row flag_row(std::string_view name, std::string_view effect) {
  return {.name = name,
          .effect = effect,
          .range = "true, false",
          .read =
              [](Options& options, std::string_view text) {
                options.*kMember = text == "true";
                return text == "true" || text == "false";
              },
          .write = [](const Options& options) { return std::string(options.*kMember ? "true" : "false"); },
          .accepts = [](const Options& /*options*/) { return true; }};
}

std::vector<Row> make_rows() {
  return {
      size_row<&Options::memory_bytes, 256 * kKiB, 1024 * kGiB>(
          "memory_bytes", "Memory budget of the store: memtables, cached blocks, indexes, filters."),
      size_row<&Options::memtable_bytes, 64 * kKiB, 16 * kGiB>(
          "memtable_bytes", "Size at which a memtable is flushed to a table; at most a quarter of memory_bytes."),
      size_row<&Options::block_bytes, kKiB, 60 * kKiB>(
          "block_bytes", "Size of a data block before compression: the unit of reading and caching."),
      size_row<&Options::table_bytes, 4 * kKiB, 64 * kMiB>("table_bytes",
                                                           "Size at which compaction starts a new table."),
      word_row<&Options::codec, codec_words>("codec", "Compression of data blocks, except in the last level."),
      word_row<&Options::codec_last, codec_words>(
          "codec_last", "Compression of data blocks in the last level, which holds most data."),
      word_row<&Options::filter, filter_words>(
          "filter", "Filter kind of new tables; with auto, the filter plan chooses the best kind for each run."),
      filter_memory_row(),
      number_row<&Options::filter_reserve_percent, 0, 100>(
          "filter_reserve_percent",
          "How much larger a table may be for parts of its filter that are only loaded if it is asked often."),
      prefix_rule_row(),
      number_row<&Options::range_filter_bits, 0, 32>(
          "range_filter_bits",
          "Bits per key of a filter in new tables that short scans ask: those that find nothing then read nothing; 0: "
          "none."),
      word_row<&Options::compaction, compaction_words>(
          "compaction", "When tables are merged; with manual, only when compact is called."),
      size_row<&Options::value_bytes_apart, 0, kGiB>(
          "value_bytes_apart",
          "Values of at least this size are written to value files when they are flushed, and compaction moves only "
          "pointers to them; 0 keeps all values in tables."),
      number_row<&Options::fanout, 2, 100>("fanout", "Size ratio of each level to the level above."),
      default_expiry_row(),
      merge_operator_row(),
      word_row<&Options::journal, journal_words>(
          "journal",
          "How writes reach the journal: by system call or, if short and not synced, "
          "through a mapping; auto: mapped if possible."),
      number_row<&Options::background_threads, 0, 64>(
          "background_threads",
          "Threads that flush and compact: with two or more, one flushes and the others compact; 0: as many as the "
          "machine has cores, from 2 to 8."),
      size_row<&Options::background_bytes_per_second, 0, 64 * kGiB>(
          "background_bytes_per_second",
          "What compactions write per second at most, less what flushes write; 0 sets no limit. A store that is "
          "written to faster slows its writers down."),
      flag_row<&Options::direct_reads>(
          "direct_reads",
          "Reads tables and value files past the kernel's page cache, which then keeps no copy of them."),
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = make_rows();
  return all;
}

const Row* find_row(std::string_view name) {
  for (const Row& row : rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

Status unknown_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Row& row : rows()) names.push_back(row.name);
  const std::optional<std::string_view> guess = nearest_word(name, names);
  return Status::invalid_argument(
      guess ? fmt::format("unknown option '{}'; did you mean '{}'?", name, *guess)
            : fmt::format("unknown option '{}'; the options are {}", name, fmt::join(names, ", ")));
}

Status bad_value(const Row& row, std::string_view text) {
  return Status::invalid_argument(fmt::format("option {}: '{}' is invalid; expected {}", row.name, text, row.range));
}

Status check_row(const Row& row, const Options& options) {
  if (!row.accepts(options)) return bad_value(row, row.write(options));
  return {};
}

}  // namespace

std::span<const OptionInfo> option_table() {
  static const std::vector<OptionInfo> table = [] {
    const Options defaults;
    std::vector<OptionInfo> all;
    for (const Row& row : rows()) {
      all.push_back({.name = row.name, .default_value = row.write(defaults), .range = row.range, .effect = row.effect});
    }
    return all;
  }();
  return table;
}

Status set_option(Options& options, std::string_view name, std::string_view value) {
  const Row* row = find_row(name);
  if (row == nullptr) return unknown_option(name);
  Options changed = options;
  if (!row->read(changed, value)) return bad_value(*row, value);
  // filter_memory is bounded by another option, which may be set later: check_options checks both.
  if (row->name != "filter_memory") TAMIS_TRY_STATUS(check_row(*row, changed));
  options = std::move(changed);
  return {};
}

std::string get_option(const Options& options, std::string_view name) {
  const Row* row = find_row(name);
  TAMIS_CHECK(row != nullptr);
  return row->write(options);
}

Status check_options(const Options& options) {
  for (const Row& row : rows()) TAMIS_TRY_STATUS(check_row(row, options));
  TAMIS_TRY_STATUS(check_operators(options.merge_operators));
  if (options.follows && !options.read_only) {
    return Status::invalid_argument("follows: a follower writes nothing; set read_only too");
  }
  if (options.read_only && options.error_if_exists) {
    return Status::invalid_argument("read_only and error_if_exists: a read-only store must exist");
  }
  return {};
}

}  // namespace tamis
