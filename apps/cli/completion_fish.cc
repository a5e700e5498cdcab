// The completion script for fish.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kBegin = R"(# Completes the command tamis in fish; printed by 'tamis completion fish'.
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

std::string quoted(std::string_view text) {
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
                        quoted(word.summary));
  }
  return text;
}

std::string argument_line(std::string_view verb, const VerbDescription::Argument& argument) {
  const std::vector<std::string> values = values_of(argument);
  if (!argument.is_option() && values.empty()) return {};
  std::string text = fmt::format("complete -c tamis -n '__tamis_verb_is {}'", verb);
  if (argument.is_option()) {
    for (const std::string_view name : names_of(argument)) {
      text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
    }
    if (!argument.value.empty()) text += " -r";
  }
  if (!values.empty()) text += fmt::format(" -f -a {}", quoted(fmt::format("{}", fmt::join(values, " "))));
  return text + fmt::format(" -d {}\n", quoted(argument.help));
}

}  // namespace

std::string fish_completion(Verbs verbs) {
  std::string text = fmt::format(fmt::runtime(kBegin), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")));
  text += words_lines("", words_after("", verbs));
  for (const std::string_view group : verb_groups(verbs)) text += words_lines(group, words_after(group, verbs));
  for (const DescribedVerb& verb : verbs) {
    for (const VerbDescription::Argument& argument : verb.description.arguments) {
      text += argument_line(verb.name, argument);
    }
  }
  return text;
}

}  // namespace tamis::cli
