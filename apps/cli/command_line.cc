#include "cli/command_line.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>

#include "base/nearest_word.h"
#include "cli/error.h"
#include "cli/output.h"
#include "cli/table.h"

namespace tamis::cli {
namespace {

struct CommonInfo {
  CommonOption option;
  CommonFlag CommonOptions::*flag;
  std::string_view names;
  std::string_view help;
};

constexpr auto kCommonInfo = std::to_array<CommonInfo>({
    {kJson, &CommonOptions::json, "--json", "write JSON, one object per line"},
    {kHex, &CommonOptions::hex, "--hex", "read and write keys and values in hexadecimal"},
    {kQuiet, &CommonOptions::quiet, "-q,--quiet", "no summary, no warnings, no progress"},
    {kNoProgress, &CommonOptions::no_progress, "--no-progress", "no progress bar"},
});

}  // namespace

struct CommandLine::Parser {
  CLI::App app;
};

CommandLine::CommandLine(VerbHelp help) : help_(help), parser_(std::make_unique<Parser>()) {}
CommandLine::~CommandLine() = default;

void CommandLine::flag(std::string_view names, std::string_view help, bool& target) {
  explained_.push_back({std::string(names), "", std::string(help)});
  unlisted_flag(names, target);
}

void CommandLine::unlisted_flag(std::string_view names, bool& target) {
  parser_->app.add_flag(std::string(names), target)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void CommandLine::add_option(std::string_view names, std::string_view value, std::string_view help,
                             const std::function<void(const std::string&)>& take) {
  explained_.push_back({std::string(names), std::string(value), std::string(help)});
  parser_->app.add_option_function<std::string>(std::string(names), take);
}

void CommandLine::option(std::string_view names, std::string_view value, std::string_view help, std::string& target) {
  add_option(names, value, help, [&target](const std::string& text) { target = text; });
}

void CommandLine::list(std::string_view names, std::string_view value, std::string_view help,
                       std::vector<std::string>& target) {
  explained_.push_back({std::string(names), fmt::format("{}...", value), std::string(help)});
  parser_->app.add_option(std::string(names), target)->delimiter(',');
}

void CommandLine::repeated(std::string_view names, std::string_view value, std::string_view help,
                           std::vector<std::string>& target) {
  explained_.push_back({std::string(names), std::string(value), std::string(help)});
  unlisted_option(names, target);
}

void CommandLine::unlisted_option(std::string_view names, std::vector<std::string>& target) {
  parser_->app.add_option(std::string(names), target)->allow_extra_args(false);
}

void CommandLine::operand(std::string_view name, std::string_view help, std::string& target) {
  explained_.push_back({std::string(name), "", std::string(help)});
  operands_.push_back({name, &target});
}

void CommandLine::optional_operand(std::string_view name, std::string_view help, std::optional<std::string>& target) {
  explained_.push_back({fmt::format("[{}]", name), "", std::string(help)});
  optional_operand_ = &target;
}

void CommandLine::operands(std::string_view name, std::string_view help, std::vector<std::string>& target) {
  explained_.push_back({fmt::format("{}...", name), "", std::string(help)});
  further_operands_ = &target;
}

std::vector<VerbDescription::Argument> CommandLine::common_arguments(unsigned options) {
  std::vector<Argument> arguments;
  for (const CommonInfo& info : kCommonInfo) {
    if ((options & info.option) != 0) arguments.push_back({std::string(info.names), "", std::string(info.help), true});
  }
  arguments.push_back({"-h,--help", "", "explain this verb", true});
  return arguments;
}

bool CommandLine::read(const Arguments& arguments) {
  verb_ = arguments.verb;
  for (const CommonInfo& info : kCommonInfo) unlisted_flag(info.names, (common_.*info.flag).target());
  for (const Argument& argument : common_arguments(help_.common)) explained_.push_back(argument);
  if (arguments.description != nullptr) {
    *arguments.description = {help_, explained_};
    return false;
  }
  // CLI11 gets only the options: it would parse an operand such as "[a]" as a list.
  const auto end_of_options = std::ranges::find(arguments.words, "--");
  std::vector<std::string> options(arguments.words.begin(), end_of_options);
  std::ranges::reverse(options);
  try {
    parser_->app.allow_extras();
    parser_->app.parse(std::move(options));
  } catch (const CLI::CallForHelp&) {
    standard_output().write(help_text());
    return false;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view text = error.what();
    const std::string_view option = text.substr(0, text.find(':'));
    const bool is_repeated = text.find("received") != std::string_view::npos;
    usage_error(fmt::format("{} {}; see 'tamis {} --help'", option,
                            is_repeated ? "was given more than once" : "needs a value", verb_));
  } catch (const CLI::ParseError& error) {
    usage_error(fmt::format("{}; see 'tamis {} --help'", error.what(), verb_));
  }
  std::vector<std::string> words = parser_->app.remaining();
  for (const std::string& word : words) {
    if (word.size() > 1 && word.starts_with('-')) refuse_unknown(word);
  }
  if (end_of_options != arguments.words.end()) words.insert(words.end(), end_of_options + 1, arguments.words.end());
  take_operands(std::move(words));
  return true;
}

void CommandLine::take_operands(std::vector<std::string> words) {
  const std::string see = fmt::format("see 'tamis {} --help'", verb_);
  if (words.size() < operands_.size()) usage_error(fmt::format("{} is missing; {}", operands_[words.size()].name, see));
  const std::size_t most = operands_.size() + (optional_operand_ == nullptr ? 0 : 1);
  if (words.size() > most && further_operands_ == nullptr) {
    usage_error(fmt::format("unexpected argument '{}'; {}", words[most], see));
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) *operands_[i].target = std::move(words[i]);
  if (optional_operand_ != nullptr && words.size() == most) *optional_operand_ = std::move(words.back());
  if (further_operands_ == nullptr) return;
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(operands_.size());
  further_operands_->assign(std::make_move_iterator(first), std::make_move_iterator(words.end()));
}

bool CommandLine::given(std::string_view option) const { return parser_->app.count(std::string(option)) > 0; }

void CommandLine::need_all(std::initializer_list<std::string_view> options) const {
  for (const std::string_view option : options) {
    if (!given(option)) usage_error(fmt::format("{} is missing; see 'tamis {} --help'", option, verb_));
  }
}

void CommandLine::need_one_of(std::initializer_list<std::string_view> options) const {
  const auto count = std::ranges::count_if(options, [&](std::string_view option) { return given(option); });
  if (count == 1) return;
  usage_error(fmt::format("give {} of {}; see 'tamis {} --help'", count == 0 ? "one" : "only one",
                          fmt::join(options, ", "), verb_));
}

void CommandLine::refuse(std::initializer_list<std::string_view> options, std::string_view because) const {
  for (const std::string_view option : options) {
    if (given(option)) usage_error(fmt::format("{} {}", option, because));
  }
}

std::string CommandLine::help_text() const {
  Table table({{"", Table::Align::kLeft}, {"", Table::Align::kLeft}, {"", Table::Align::kWrap}});
  for (const Argument& argument : explained_) table.add({"", argument.text(), argument.help});
  const std::string options = table.text();
  std::string text;
  for (const std::string& line : wrap(help_.summary, 80)) text += line + "\n";
  const std::vector<std::string> usage = wrap(fmt::format("tamis {} {}", verb_, help_.usage), 72);
  text += fmt::format("\n{} {}\n\n{}", bold("Usage:"), fmt::join(usage, "\n         "), options);
  text += fmt::format("\n{}\n{}\n", bold("Example:"), help_.example);
  return text;
}

void CommandLine::refuse_unknown(const std::string& argument) const {
  std::vector<std::string> names;
  for (const CLI::Option* option : parser_->app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const auto guess = nearest_word(argument.substr(0, argument.find('=')), candidates);
  const std::string advice =
      guess ? fmt::format("did you mean '{}'?", *guess) : fmt::format("see 'tamis {} --help'", verb_);
  const bool may_be_a_word = !argument.starts_with("--") && !operands_.empty();
  usage_error(
      fmt::format("unknown option '{}'; {}", argument,
                  may_be_a_word ? fmt::format("put an operand that begins with '-' after '--'; {}", advice) : advice));
}

}  // namespace tamis::cli
