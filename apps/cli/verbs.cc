#include "cli/verbs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/nearest_word.h"
#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "tamis/version.h"

namespace tamis::cli {
namespace {

struct Verb {
  std::string_view name;
  std::string_view summary;  ///< Empty: not for people, and in no overview.
  int (*run)(Arguments);
};

/// In the order of the overview. A group ("filter") is whatever stands before a space.
constexpr auto kVerbs = std::to_array<Verb>({
    {"put", "store a value under a key", run_put},
    {"get", "print the value of a key", run_get},
    {"delete", "remove a key", run_delete},
    {"multi-get", "look up several keys at once", run_multi_get},
    {"scan", "print keys and values in order", run_scan},
    {"count", "how many keys there are, in all or in a range", run_count},
    {"load", "load entries from lines, CSV or JSON", run_load},
    {"dump", "print everything, for load to read back", run_dump},
    {"explain", "every step of one lookup, and what it cost", run_explain},
    {"stats", "what a store holds, level by level", run_stats},
    {"plan", "how the filter memory is shared among the runs", run_plan},
    {"flush", "write what stands only in the journal to tables", run_flush},
    {"compact", "rewrite tables, leaving out what is outdated", run_compact},
    {"checkpoint", "make a copy of a store in a new folder", run_checkpoint},
    {"verify", "read every byte of a store and check it", run_verify},
    {"repair", "make a damaged store usable", run_repair},
    {"table", "look into one table file", run_table},
    {"options", "what --option can set", run_options},
    {"filter build", "make a filter from keys", run_filter_build},
    {"filter probe", "ask a filter for keys", run_filter_probe},
    {"filter info", "what a filter file is, and how full", run_filter_info},
    {"filter convert", "write a filter in a format of the same bits", run_filter_convert},
    {"filter size", "how large filters have to be, all kinds side by side", run_filter_size},
    {"filter kinds", "the kinds of filters", run_filter_kinds},
    {"filter formats", "the filter files of other systems", run_filter_formats},
    {"filter union", "join two filters: keys of either", run_filter_union},
    {"filter intersect", "join two filters: keys of both", run_filter_intersect},
    {"filter verify", "ask a Cassandra filter for every key of its index", run_filter_verify},
    {"filter rebuild", "make a Cassandra filter from an index", run_filter_rebuild},
    {"filter plot", "draw measured and predicted rates as SVG", run_filter_plot},
    {"bench", "measure stores side by side", run_bench},
    {"demo", "100 sorted runs, absent keys, with and without filters", run_demo},
    {"torture", "try to break a store's promises on this disk", run_torture},
    {"torture-writer", "", run_torture_writer},
    {"completion", "a script that lets a shell complete these verbs", run_completion},
    {"manual", "all of this as a page for man", run_manual},
    {"version", "the version of this program", run_version},
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
      "'tamis VERB --help' explains one verb, with an example. Every verb takes --json.\n",
      bold("Usage:"), table.text());
}

/// "did you mean 'filter size'?", looking also for words that lack their group.
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

/// Options that every verb has may also stand before it: they are put back behind it.
std::vector<std::string> with_flags_behind(Arguments arguments) {
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
int run_help(Arguments arguments) {
  if (arguments.empty()) return show_overview("");
  std::vector<std::string> asked(arguments.begin(), arguments.end());
  asked.emplace_back("--help");
  return run_command(asked);
}

/// What to do about damage, where the message does not say.
std::string advice_on_damage(std::string_view verb, std::string_view message) {
  for (const std::string_view said : {"tamis repair", "newer tamis", "--format", "MIGRATING.md", "of tamis"}) {
    if (message.find(said) != std::string_view::npos) return {};
  }
  if (verb.starts_with("filter "))
    return "; the file is damaged or is something else: make it again where it came from";
  if (verb == "table") return "; if it is part of a store, 'tamis repair' on the folder works on what is left";
  return "; 'tamis repair' works on what is left";
}

int run_with_advice(const Verb& verb, Arguments arguments) {
  try {
    return verb.run(arguments);
  } catch (const CommandError& error) {
    if (error.exit_status() != kExitCorruption) throw;
    throw CommandError(kExitCorruption, error.what() + advice_on_damage(verb.name, error.what()));
  }
}

int run_verb(Arguments words) {
  std::string name = words[0];
  std::size_t used = 1;
  if (is_group(name)) {
    if (words.size() == 1) usage_error(fmt::format("'{0}' needs a verb; 'tamis help {0}' lists them", name));
    if (words[1] == "--help" || words[1] == "-h" || words[1] == "help") return show_overview(name + " ");
    name += " " + words[1];
    used = 2;
  }
  const auto* const verb = std::ranges::find(kVerbs, name, &Verb::name);
  if (verb == kVerbs.end()) usage_error(fmt::format("there is no verb '{}'; {}", name, guess_of(name)));
  return run_with_advice(*verb, words.subspan(used));
}

}  // namespace

int run_command(Arguments arguments) {
  const std::vector<std::string> words = with_flags_behind(arguments);
  if (words.empty()) usage_error("a verb is missing; 'tamis help' lists them");
  const Arguments rest = Arguments(words).subspan(1);
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return run_help(rest);
  if (words[0] == "--version") return run_version(rest);
  return run_verb(words);
}

std::vector<DescribedVerb> describe_verbs() {
  std::vector<DescribedVerb> described;
  for (const Verb& verb : kVerbs) {
    if (!verb.summary.empty()) described.push_back({verb.name, verb.summary, CommandLine::describe(verb.run)});
  }
  return described;
}

int run_version(Arguments arguments) {
  CommandLine line({.name = "version",
                    .summary = "Prints the version of this program.",
                    .usage = "",
                    .example = "  tamis version",
                    .common = kJson});
  if (!line.read(arguments)) return kExitOk;
  if (line.common().json) {
    standard_output().print("{}\n", JsonObject().add("version", version()).text());
  } else {
    standard_output().print("tamis {}\n", version());
  }
  return kExitOk;
}

}  // namespace tamis::cli
