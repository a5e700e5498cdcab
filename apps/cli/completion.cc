// tamis completion: shell completion scripts.
#include "cli/completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "tamis/filter.h"
#include "tamis/foreign.h"
#include "tamis/options.h"

namespace tamis::cli {
namespace {

struct Shell {
  std::string_view name;
  std::string (*script)(Verbs verbs);
};

constexpr auto kShells =
    std::to_array<Shell>({{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}});

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

int run_completion(Arguments arguments) {
  std::string wanted;
  CommandLine line({.summary = "Prints a script that completes verbs, options and the names of filter kinds, formats "
                               "and store options. The packages install it; otherwise see the examples.",
                    .usage = "bash|zsh|fish",
                    .example = "  eval \"$(tamis completion bash)\"    # in ~/.bashrc\n"
                               "  tamis completion zsh > ~/.zfunc/_tamis    # a folder in $fpath\n"
                               "  tamis completion fish > ~/.config/fish/completions/tamis.fish"});
  line.operand("SHELL", "bash, zsh or fish", wanted);
  if (!line.read(arguments)) return kExitOk;
  const auto* const shell = std::ranges::find(kShells, wanted, &Shell::name);
  if (shell == kShells.end()) usage_error(fmt::format("unknown shell '{}'; choose from bash, zsh, fish", wanted));
  standard_output().write(shell->script(describe_verbs()));
  return kExitOk;
}

std::vector<std::string_view> verb_groups(Verbs verbs) {
  std::vector<std::string_view> groups;
  for (const DescribedVerb& verb : verbs) {
    const std::size_t space = verb.name.find(' ');
    const std::string_view group = verb.name.substr(0, space);
    if (space != std::string_view::npos && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

std::vector<VerbWord> words_after(std::string_view group, Verbs verbs) {
  std::vector<VerbWord> words;
  for (const DescribedVerb& verb : verbs) {
    const std::size_t space = verb.name.find(' ');
    if (group.empty() && space == std::string_view::npos) words.push_back({verb.name, verb.summary});
    if (!group.empty() && verb.name.substr(0, space) == group) {
      words.push_back({verb.name.substr(space + 1), verb.summary});
    }
  }
  if (!group.empty()) return words;
  for (const std::string_view word : verb_groups(verbs)) words.push_back({word, "a group of verbs"});
  words.push_back({"help", "explain a verb"});
  return words;
}

std::vector<std::string_view> names_of(const VerbDescription::Argument& argument) {
  return parts_of(argument.names, ',');
}

std::vector<std::string> values_of(const VerbDescription::Argument& argument) {
  std::vector<std::string> values;
  if (argument.value.find('|') != std::string::npos) {
    for (const std::string_view value : parts_of(argument.value, '|')) values.emplace_back(value);
  } else if (argument.names == "--kind") {
    for (const FilterKindInfo& kind : filter_kinds()) values.emplace_back(kind.name);
  } else if (argument.names == "--format") {
    for (const foreign::FormatInfo& format : foreign::formats()) values.emplace_back(format.name);
  } else if (argument.names == "--option") {
    for (const OptionInfo& option : option_table()) values.push_back(fmt::format("{}=", option.name));
  } else if (argument.names == "SHELL") {
    for (const Shell& shell : kShells) values.emplace_back(shell.name);
  }
  return values;
}

}  // namespace tamis::cli
