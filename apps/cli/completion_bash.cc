// The completion script for bash.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "completion.h"

namespace tamis::cli {
namespace {

// Leaves in `verb` the words of the verb so far and in `candidates` what can follow. Bash itself completes files where
// nothing of ours fits (-o default).
constexpr std::string_view kScript = R"(# Completes the command tamis in bash; printed by 'tamis completion bash'.
_tamis() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} verb='' candidates='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} == -* || -z $verb && ${{COMP_WORDS[i]}} == help ]] && continue
    verb+=${{verb:+ }}${{COMP_WORDS[i]}}
    [[ ' {groups} ' == *" $verb "* ]] || break
  done
  case $previous in
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
  for (const VerbWord& word : words) list.push_back(word.word);
  return fmt::format("{}", fmt::join(list, " "));
}

std::string options_of(const VerbDescription& verb) {
  std::vector<std::string_view> names;
  for (const VerbDescription::Argument& argument : verb.arguments) {
    if (!argument.is_option()) continue;
    for (const std::string_view name : names_of(argument)) names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

/// What can follow an option: by list of candidates, the options it serves. The empty list leaves the value to bash.
std::map<std::string, std::set<std::string_view>> options_by_values(Verbs verbs) {
  std::map<std::string, std::set<std::string_view>> options;
  for (const DescribedVerb& verb : verbs) {
    for (const VerbDescription::Argument& argument : verb.description.arguments) {
      if (!argument.is_option() || argument.value.empty()) continue;
      const std::string values = fmt::format("{}", fmt::join(values_of(argument), " "));
      for (const std::string_view name : names_of(argument)) options[values].insert(name);
    }
  }
  return options;
}

}  // namespace

std::string bash_completion(Verbs verbs) {
  std::string values;
  for (const auto& [list, options] : options_by_values(verbs)) {
    values += fmt::format("  {}) candidates='{}' ;;\n", fmt::join(options, " | "), list);
  }
  std::string words = fmt::format("    '') candidates='{}' ;;\n", list_of(words_after("", verbs)));
  for (const std::string_view group : verb_groups(verbs)) {
    words += fmt::format("    {}) candidates='{}' ;;\n", group, list_of(words_after(group, verbs)));
  }
  std::string options_of_verbs;
  for (const DescribedVerb& verb : verbs) {
    options_of_verbs += fmt::format("      '{}') candidates='{}' ;;\n", verb.name, options_of(verb.description));
    for (const VerbDescription::Argument& argument : verb.description.arguments) {
      const std::vector<std::string> named = values_of(argument);
      if (argument.is_option() || named.empty()) continue;
      words += fmt::format("    '{}') candidates='{}' ;;\n", verb.name, fmt::join(named, " "));
    }
  }
  return fmt::format(fmt::runtime(kScript), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")),
                     fmt::arg("values", values), fmt::arg("words", words), fmt::arg("options", options_of_verbs));
}

}  // namespace tamis::cli
