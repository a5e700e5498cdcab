// The completion script for bash.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "cli/completion.h"

namespace tamis::cli {
namespace {

// Sets `verb` to the words of the verb so far and `candidates` to what can follow. Otherwise bash completes files (-o
// default).
constexpr std::string_view kScript = R"(# Completes the command tamis in bash; printed by 'tamis completion bash'.
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
  for (const VerbDescription::Argument& argument : verb.arguments) {
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
    for (const VerbDescription::Argument& argument : verb.description.arguments) {
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

}  // namespace

std::string bash_completion(Verbs verbs) {
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
                     fmt::arg("values", value_cases(verbs)), fmt::arg("words", words),
                     fmt::arg("options", options_of_verbs));
}

}  // namespace tamis::cli
