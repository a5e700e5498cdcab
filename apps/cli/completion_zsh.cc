// The completion script for zsh.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "cli/completion.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kScript = R"(#compdef tamis
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
std::string quoted(std::string_view text) {
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
    text += fmt::format("      {}\n", quoted(fmt::format("{}:{}", word.word, word.summary)));
  return text + "    )\n    _describe verb candidates\n    ;;\n";
}

/// ":OUT:_files": a value's name and its completer.
std::string value_specification(std::string_view name, const VerbDescription::Argument& argument) {
  const std::vector<std::string> values = values_of(argument);
  if (values.empty()) return fmt::format(":{}:_files", escaped(name));
  const std::string_view no_space = argument.names == "--option" ? "-S '' " : "";  // After "memory_bytes=".
  return fmt::format(":{}:{{compadd {}-- {}}}", escaped(name), no_space, fmt::join(values, " "));
}

/// An option for _arguments that may be repeated: '*'{-o,--output}'[the file to write]:OUT:_files'.
std::string option_specification(const VerbDescription::Argument& option) {
  const std::vector<std::string_view> names = names_of(option);
  const std::string all = names.size() == 1 ? std::string(names[0]) : fmt::format("{{{}}}", fmt::join(names, ","));
  const std::string value = option.value.empty() ? "" : value_specification(option.value, option);
  return fmt::format("'*'{}{}", all, quoted(fmt::format("[{}]{}", escaped(option.help), value)));
}

std::string verb_case(const DescribedVerb& verb) {
  std::string text = fmt::format("  '{}')\n    _arguments", verb.name);
  std::string operands = ":word:_files";
  for (const VerbDescription::Argument& argument : verb.description.arguments) {
    if (argument.is_option()) {
      text += fmt::format(" \\\n      {}", option_specification(argument));
    } else if (!values_of(argument).empty()) {
      operands = value_specification(argument.names, argument);
    }
  }
  return text + fmt::format(" \\\n      {}\n    ;;\n", quoted("*" + operands));
}

}  // namespace

std::string zsh_completion(Verbs verbs) {
  std::string cases = words_case("", words_after("", verbs));
  for (const std::string_view group : verb_groups(verbs)) cases += words_case(group, words_after(group, verbs));
  for (const DescribedVerb& verb : verbs) cases += verb_case(verb);
  return fmt::format(fmt::runtime(kScript), fmt::arg("groups", fmt::join(verb_groups(verbs), " ")),
                     fmt::arg("cases", cases));
}

}  // namespace tamis::cli
