// tamis completion: shell completion scripts, generated from the verbs' help. A script completes verbs, options and
// named values; other words are left to the shell's file completion.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"
#include "tamis/options.h"

namespace tamis::cli {
namespace {

using Verbs = std::span<const DescribedVerb>;
using Argument = VerbDescription::Argument;

/// A word that can be a verb, or a verb's second word.
struct VerbWord {
  std::string_view word;
  std::string_view summary;
};

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The first words of two-word verbs: "filter".
std::vector<std::string_view> verb_groups(Verbs verbs) {
  std::vector<std::string_view> groups;
  for (const DescribedVerb& verb : verbs) {
    const std::size_t space = verb.name.find(' ');
    const std::string_view group = verb.name.substr(0, space);
    if (space != std::string_view::npos && std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

/// The words after a group, or, for "", the first words of a command line, including "help".
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

/// "-o,--output" is "-o" and "--output".
std::vector<std::string_view> names_of(const Argument& argument) { return parts_of(argument.names, ','); }

/// Values that can be listed: kinds, formats, "memory_bytes=", alternatives such as "tsv|csv". Otherwise empty.
std::vector<std::string> values_of(const Argument& argument) {
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
    values = {"bash", "zsh", "fish"};
  }
  return values;
}

// Sets `verb` to the words of the verb so far and `candidates` to what can follow. Otherwise bash completes files (-o
// default).
constexpr std::string_view kBashScript = R"(# Completes the command tamis in bash; printed by 'tamis completion bash'.
_tamis() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} verb='' candidates='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* || -z $verb && ${{COMP_WORDS[i]}} == help ]] && continue
    verb+=${{verb:+ }}${{COMP_WORDS[i]}}
    [[ ' {groups} ' == *" $verb "* ]] || break
  done
  case "$verb $previous" in
{values}  *)
    case $verb in
{words}    esac
    if [[ $word == -* ]]; then
      case $verb in
{options}      esac
    fi
    ;;
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$word"))
  [[ ${{#COMPREPLY[@]}} -eq 1 && ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}}
complete -o default -F _tamis tamis
)";

std::string list_of(const std::vector<VerbWord>& words) {
  std::vector<std::string_view> list;
  list.reserve(words.size());
  for (const VerbWord& word : words) list.push_back(word.word);
  return fmt::format("{}", fmt::join(list, " "));
}

std::string options_of(const VerbDescription& verb) {
  std::vector<std::string_view> names;
  for (const Argument& argument : verb.arguments) {
    if (!argument.is_option()) continue;
    for (const std::string_view name : names_of(argument)) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// Shell cases for what follows an option: its values per verb if they can be listed; otherwise the value is left to
/// bash.
std::string value_cases(Verbs verbs) {
  std::map<std::string, std::set<std::string>> cases;
  std::set<std::string> others;
  for (const DescribedVerb& verb : verbs) {
    for (const Argument& argument : verb.description.arguments) {
      if (!argument.is_option() || argument.value.empty()) continue;
      const std::vector<std::string> values = values_of(argument);
      for (const std::string_view name : names_of(argument)) {
        others.insert(fmt::format("*' {}'", name));
        if (!values.empty()) {
          cases[fmt::format("{}", fmt::join(values, " "))].insert(fmt::format("'{} {}'", verb.name, name));
        }
      }
    }
  }
  std::string text;
  for (const auto& [values, patterns] : cases) {
    text += fmt::format("  {}) candidates='{}' ;;\n", fmt::join(patterns, " | "), values);
  }
  return text + fmt::format("  {}) candidates='' ;;\n", fmt::join(others, " | "));
}

std::string bash_completion(Verbs verbs) {
  std::string words = fmt::format("    '') candidates='{}' ;;\n", list_of(words_after("", verbs)));
  for (const std::string_view group : verb_groups(verbs)) {
    words += fmt::format("    {}) candidates='{}' ;;\n", group, list_of(words_after(group, verbs)));
  }
  std::string options_of_verbs;
  for (const DescribedVerb& verb : verbs) {
    options_of_verbs += fmt::format("      '{}') candidates='{}' ;;\n", verb.name, options_of(verb.description));
    for (const Argument& argument : verb.description.arguments) {
      const std::vector<std::string> named = values_of(argument);
      if (argument.is_option() || named.empty()) continue;
      words += fmt::format("    '{}') candidates='{}' ;;\n", verb.name, fmt::join(named, " "));
    }
  }
  return fmt::format(fmt::runtime(kBashScript), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")),
                     fmt::arg("values", value_cases(verbs)), fmt::arg("words", words),
                     fmt::arg("options", options_of_verbs));
}

constexpr std::string_view kZshScript = R"(#compdef tamis
# Completes the command tamis in zsh; printed by 'tamis completion zsh'.
_tamis() {{
  local verb='' word
  local -a candidates
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    [[ $word == -* || -z $verb && $word == help ]] && continue
    verb+=${{verb:+ }}$word
    [[ ' {groups} ' == *" $verb "* ]] || break
  done
  case $verb in
{cases}  *) _files ;;
  esac
}}
if [ "$funcstack[1]" = _tamis ]; then
  _tamis "$@"
else
  compdef _tamis tamis
fi
)";

/// Quotes for the shell.
std::string zsh_quoted(std::string_view text) {
  std::string result = "'";
  for (const char byte : text) result += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return result + "'";
}

/// Escapes characters special to _arguments.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char byte : text) {
    if (std::string_view("[]:\\").find(byte) != std::string_view::npos) result += '\\';
    result += byte;
  }
  return result;
}

std::string words_case(std::string_view group, const std::vector<VerbWord>& words) {
  std::string text = fmt::format("  '{}')\n    candidates=(\n", group);
  for (const VerbWord& word : words)
    text += fmt::format("      {}\n", zsh_quoted(fmt::format("{}:{}", word.word, word.summary)));
  return text + "    )\n    _describe verb candidates\n    ;;\n";
}

/// ":OUT:_files": a value's name and its completer.
std::string value_specification(std::string_view name, const Argument& argument) {
  const std::vector<std::string> values = values_of(argument);
  if (values.empty()) return fmt::format(":{}:_files", escaped(name));
  const std::string_view no_space = argument.names == "--option" ? "-S '' " : "";  // After "memory_bytes=".
  return fmt::format(":{}:{{compadd {}-- {}}}", escaped(name), no_space, fmt::join(values, " "));
}

/// An option for _arguments that may be repeated: '*'{-o,--output}'[the file to write]:OUT:_files'.
std::string option_specification(const Argument& option) {
  const std::vector<std::string_view> names = names_of(option);
  const std::string all = names.size() == 1 ? std::string(names[0]) : fmt::format("{{{}}}", fmt::join(names, ","));
  const std::string value = option.value.empty() ? "" : value_specification(option.value, option);
  return fmt::format("'*'{}{}", all, zsh_quoted(fmt::format("[{}]{}", escaped(option.help), value)));
}

std::string verb_case(const DescribedVerb& verb) {
  std::string text = fmt::format("  '{}')\n    _arguments", verb.name);
  std::string operands = ":word:_files";
  for (const Argument& argument : verb.description.arguments) {
    if (argument.is_option()) {
      text += fmt::format(" \\\n      {}", option_specification(argument));
    } else if (!values_of(argument).empty()) {
      operands = value_specification(argument.names, argument);
    }
  }
  return text + fmt::format(" \\\n      {}\n    ;;\n", zsh_quoted("*" + operands));
}

std::string zsh_completion(Verbs verbs) {
  std::string cases = words_case("", words_after("", verbs));
  for (const std::string_view group : verb_groups(verbs)) cases += words_case(group, words_after(group, verbs));
  for (const DescribedVerb& verb : verbs) cases += verb_case(verb);
  return fmt::format(fmt::runtime(kZshScript), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")),
                     fmt::arg("cases", cases));
}

constexpr std::string_view kFishBegin = R"(# Completes the command tamis in fish; printed by 'tamis completion fish'.
function __tamis_verb_is
    set -l verb
    for word in (commandline -opc)[2..]
        if string match -q -- '-*' $word; or test -z "$verb" -a $word = help
            continue
        end
        set -a verb $word
        contains -- "$verb" {groups}; or break
    end
    test "$verb" = "$argv"
end
)";

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') result += '\\';
    result += byte;
  }
  return result + "'";
}

std::string words_lines(std::string_view group, const std::vector<VerbWord>& words) {
  std::string text;
  for (const VerbWord& word : words) {
    text += fmt::format("complete -c tamis -n '__tamis_verb_is {}' -f -a {} -d {}\n", group, word.word,
                        fish_quoted(word.summary));
  }
  return text;
}

std::string argument_line(std::string_view verb, const Argument& argument) {
  const std::vector<std::string> values = values_of(argument);
  if (!argument.is_option() && values.empty()) return {};
  std::string text = fmt::format("complete -c tamis -n '__tamis_verb_is {}'", verb);
  if (argument.is_option()) {
    for (const std::string_view name : names_of(argument)) {
      text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
    }
    if (!argument.value.empty()) text += " -r";
  }
  if (!values.empty()) text += fmt::format(" -f -a {}", fish_quoted(fmt::format("{}", fmt::join(values, " "))));
  return text + fmt::format(" -d {}\n", fish_quoted(argument.help));
}

std::string fish_completion(Verbs verbs) {
  std::string text = fmt::format(fmt::runtime(kFishBegin), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")));
  text += words_lines("", words_after("", verbs));
  for (const std::string_view group : verb_groups(verbs)) text += words_lines(group, words_after(group, verbs));
  for (const DescribedVerb& verb : verbs) {
    for (const Argument& argument : verb.description.arguments) {
      text += argument_line(verb.name, argument);
    }
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*script)(Verbs verbs);
};

constexpr auto kShells =
    std::to_array<Shell>({{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}});

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

}  // namespace tamis::cli
