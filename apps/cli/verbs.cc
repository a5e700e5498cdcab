#include "cli/verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"
#include "cli/table.h"
#include "tamis/version.h"

namespace tamis::cli {
namespace {

using Words = std::span<const std::string>;

struct Verb {
  std::string_view name;
  std::string_view summary;  ///< Empty: internal, left out of the overview.
  int (*run)(Arguments);
};

/// In overview order. The word before a space ("filter") is a group.
constexpr auto kVerbs = std::to_array<Verb>({
    {"put", "store a value under a key", run_put},
    {"get", "print the value of a key", run_get},
    {"delete", "remove a key", run_delete},
    {"delete-range", "remove a range of keys", run_delete_range},
    {"merge", "add to a number or append to a value", run_merge},
    {"multi-get", "look up several keys at once", run_multi_get},
    {"scan", "print keys and values in order", run_scan},
    {"count", "count the keys of a keyspace or of a range", run_count},
    {"load", "load entries from lines, CSV or JSON", run_load},
    {"dump", "print all entries in a format that load reads", run_dump},
    {"import leveldb", "copy a LevelDB store into a new store", run_import_leveldb},
    {"import rocksdb", "copy a RocksDB store into a new store", run_import_rocksdb},
    {"keyspaces", "list, create and drop keyspaces", run_keyspaces},
    {"explain", "show every step of a lookup and its cost", run_explain},
    {"stats", "show what a store holds, level by level", run_stats},
    {"top", "show a store that a process writes, live", run_top},
    {"plan", "show how filter memory is divided among runs", run_plan},
    {"web", "show a store in a browser on this machine", run_web},
    {"flush", "write entries that are only in the journal to tables", run_flush},
    {"compact", "rewrite tables, dropping outdated entries", run_compact},
    {"checkpoint", "copy a store to a new folder", run_checkpoint},
    {"verify", "read and check every byte of a store", run_verify},
    {"repair", "make a damaged store usable", run_repair},
    {"table", "inspect a table file", run_table},
    {"bucket check", "ask whether a bucket can hold a store", run_bucket_check},
    {"options", "list the options of a store", run_options},
    {"filter build", "build a filter from keys", run_filter_build},
    {"filter probe", "test keys against a filter", run_filter_probe},
    {"filter add", "add keys to a filter in its file", run_filter_add},
    {"filter remove", "remove keys from a filter in its file", run_filter_remove},
    {"filter info", "show the kind, size and fill of a filter", run_filter_info},
    {"filter convert", "convert a filter to a format with the same bits", run_filter_convert},
    {"filter size", "compare the sizes of all filter kinds", run_filter_size},
    {"filter kinds", "list the filter kinds", run_filter_kinds},
    {"filter formats", "list the filter formats of other systems", run_filter_formats},
    {"filter union", "combine two filters: keys in either", run_filter_union},
    {"filter intersect", "combine two filters: keys in both", run_filter_intersect},
    {"filter verify", "check a Cassandra filter against its index", run_filter_verify},
    {"filter rebuild", "rebuild a Cassandra filter from its index", run_filter_rebuild},
    {"filter plot", "plot measured and predicted rates as SVG", run_filter_plot},
    {"bench", "benchmark stores side by side", run_bench},
    {"demo", "look up absent keys in 100 runs, with and without filters", run_demo},
    {"torture", "try to break a store's guarantees on this disk", run_torture},
    {"torture-writer", "", run_torture_writer},
    {"completion", "print a shell completion script", run_completion},
    {"manual", "print the manual page", run_manual},
    {"version", "print the version", run_version},
});

constexpr std::array<std::string_view, 4> kCommonFlags = {"--json", "--hex", "--quiet", "--no-progress"};

bool is_group(std::string_view word) {
  return std::ranges::any_of(kVerbs, [&](const Verb& verb) {
    return verb.name.size() > word.size() && verb.name.starts_with(word) && verb.name[word.size()] == ' ';
  });
}

std::string overview(std::string_view group) {
  Table table({{"", Table::Align::kLeft}, {"", Table::Align::kLeft}, {"", Table::Align::kWrap}});
  for (const Verb& verb : kVerbs) {
    if (verb.name.starts_with(group) && !verb.summary.empty()) {
      table.add({"", std::string(verb.name), std::string(verb.summary)});
    }
  }
  return fmt::format(
      "{} tamis VERB [OPTION...] [OPERAND...]\n\n{}\n"
      "'tamis VERB --help' explains a verb, with an example. Every verb accepts --json.\n",
      bold("Usage:"), table.text());
}

/// "did you mean 'filter size'?": also matches words that lack their group.
std::string guess_of(std::string_view word) {
  std::vector<std::string_view> candidates;
  for (const Verb& verb : kVerbs) {
    if (verb.summary.empty()) continue;
    const std::size_t space = verb.name.find(' ');
    candidates.push_back(verb.name.substr(0, space));
    if (space != std::string_view::npos) candidates.insert(candidates.end(), {verb.name, verb.name.substr(space + 1)});
  }
  const auto guess = nearest_word(word, candidates);
  if (!guess) return "'tamis help' lists them";
  const auto in_group = [&](const Verb& verb) { return verb.name.ends_with(fmt::format(" {}", *guess)); };
  const auto* const verb = std::ranges::find_if(kVerbs, in_group);
  return fmt::format("did you mean '{}'?", verb == kVerbs.end() ? *guess : verb->name);
}

/// Moves common options that precede the verb behind it.
std::vector<std::string> with_flags_behind(Words arguments) {
  std::vector<std::string> flags;
  std::vector<std::string> words(arguments.begin(), arguments.end());
  for (std::size_t at = 0; at < words.size();) {
    if (std::ranges::find(kCommonFlags, words[at]) != kCommonFlags.end()) {
      flags.push_back(words[at]);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (at == 0 && is_group(words[0])) {
      ++at;
    } else {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(at + 1), flags.begin(), flags.end());
      break;
    }
  }
  return words;
}

int show_overview(std::string_view group) {
  standard_output().write(overview(group));
  return kExitOk;
}

/// "tamis help filter size" is "tamis filter size --help".
int run_help(Words words) {
  if (words.empty()) return show_overview("");
  std::vector<std::string> asked(words.begin(), words.end());
  asked.emplace_back("--help");
  return run_command(asked);
}

/// What to do about damage, unless the message already says so.
std::string advice_on_damage(std::string_view verb, std::string_view message) {
  for (const std::string_view said : {"tamis repair", "newer tamis", "--format", "MIGRATING.md", "tamis file"}) {
    if (message.find(said) != std::string_view::npos) return {};
  }
  if (verb.starts_with("import ")) return "; the store to import is damaged; its own library may be able to repair it";
  if (verb.starts_with("filter ")) return "; the file is damaged or not a filter; restore or rebuild it";
  if (verb == "table") return "; if it belongs to a store, run 'tamis repair' on the store's folder";
  return "; run 'tamis repair' to recover what is left";
}

int run_with_advice(const Verb& verb, Words words) {
  try {
    return verb.run({verb.name, words});
  } catch (const CommandError& error) {
    if (error.exit_status() != kExitCorruption) throw;
    throw CommandError(kExitCorruption, error.what() + advice_on_damage(verb.name, error.what()));
  }
}

int run_verb(Words words) {
  std::string name = words[0];
  std::size_t used = 1;
  if (is_group(name)) {
    if (words.size() == 1) usage_error(fmt::format("'{0}' needs a verb; 'tamis help {0}' lists them", name));
    if (words[1] == "--help" || words[1] == "-h" || words[1] == "help") return show_overview(name + " ");
    name += " " + words[1];
    used = 2;
  }
  const auto* const verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == kVerbs.end()) usage_error(fmt::format("unknown verb '{}'; {}", name, guess_of(name)));
  return run_with_advice(*verb, words.subspan(used));
}

}  // namespace

int run_command(Words arguments) {
  const std::vector<std::string> words = with_flags_behind(arguments);
  if (words.empty()) usage_error("no verb given; 'tamis help' lists them");
  const Words rest = Words(words).subspan(1);
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return run_help(rest);
  if (words[0] == "--version") return run_version({"version", rest});
  return run_verb(words);
}

std::vector<DescribedVerb> describe_verbs() {
  std::vector<DescribedVerb> described;
  for (const Verb& verb : kVerbs) {
    if (verb.summary.empty()) continue;
    described.push_back({verb.name, verb.summary, {}});
    verb.run({verb.name, {}, &described.back().description});
  }
  return described;
}

int run_version(Arguments arguments) {
  CommandLine line({.summary = "Prints the version of this program.", .example = "  tamis version", .common = kJson});
  if (!line.read(arguments)) return kExitOk;
  standard_output().write(line.common().json ? JsonObject().add("version", version()).line()
                                             : fmt::format("tamis {}\n", version()));
  return kExitOk;
}

}  // namespace tamis::cli
