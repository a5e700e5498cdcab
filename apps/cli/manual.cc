// tamis manual: the manual page, generated from the verbs' help.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"
#include "tamis/options.h"
#include "tamis/version.h"

namespace tamis::cli {
namespace {

struct StatusMeaning {
  ExitStatus status;
  std::string_view meaning;
};

constexpr auto kStatuses = std::to_array<StatusMeaning>({
    {kExitOk, "Success."},
    {kExitNo, "Not found, the answer is no, or a verification failed."},
    {kExitUsage, "Invalid command line or value, or unsupported operation."},
    {kExitInputOutput, "Input or output failed, space ran out, or there is no such store or keyspace."},
    {kExitCorruption, "Data is damaged or in a newer format."},
    {kExitBusy, "Another process is writing the store, and this verb would too; or a transaction conflicts."},
    {kExitInterrupted, "Interrupted by Ctrl-C; the store is consistent."},
});

/// Escapes text for roff, including at the beginning of a line.
std::string roff(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char byte : text) {
    if (begins_line && (byte == '.' || byte == '\'')) result += "\\&";
    begins_line = byte == '\n';
    switch (byte) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      case '`': result += "\\(ga"; break;
      default: result += byte;
    }
  }
  return result;
}

/// A bold term and its meaning.
std::string item(std::string_view term, std::string_view meaning) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(meaning));
}

std::string argument_item(const VerbDescription::Argument& argument) {
  const std::string value = argument.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(argument.value));
  return fmt::format(".TP\n\\f{}{}\\fR{}\n{}\n", argument.is_option() ? "B" : "I", roff(argument.names), value,
                     roff(argument.help));
}

std::string verb_section(const DescribedVerb& verb) {
  const VerbDescription& description = verb.description;
  std::string text = fmt::format(".SS {}\n{}\n.P\n\\fBtamis {}\\fR {}\n", roff(verb.name),
                                 roff(description.help.summary), roff(verb.name), roff(description.help.usage));
  std::vector<std::string> common;
  for (const VerbDescription::Argument& argument : description.arguments) {
    if (argument.is_common) {
      common.push_back(fmt::format("\\fB{}\\fR", roff(argument.names)));
    } else {
      text += argument_item(argument);
    }
  }
  text += fmt::format(".P\nCommon options: {}\n", fmt::join(common, ", "));
  return text + fmt::format(".P\nFor example:\n.P\n.nf\n{}\n.fi\n", roff(description.help.example));
}

std::string page(const std::vector<DescribedVerb>& verbs) {
  std::string text = fmt::format(
      ".TH TAMIS 1 \"\" \"tamis {}\" \"User Commands\"\n"
      ".SH NAME\ntamis \\- a key\\-value store built around filters\n"
      ".SH SYNOPSIS\n\\fBtamis\\fR \\fIVERB\\fR [\\fIOPTION\\fR...] [\\fIOPERAND\\fR...]\n"
      ".SH DESCRIPTION\nLoads, reads, explains, verifies and repairs stores; sizes, builds, probes and inspects "
      "filters, including those of other systems. Results go to standard output, everything else to standard error.\n",
      roff(version()));
  text += ".SH COMMON OPTIONS\nEvery verb accepts these. Each verb below lists those that affect it.\n";
  for (const VerbDescription::Argument& argument : CommandLine::common_arguments()) text += argument_item(argument);
  text += item("--", "ends the options; operands after it may begin with a hyphen");
  text += ".SH VERBS\n";
  for (const DescribedVerb& verb : verbs) text += verb_section(verb);
  text += ".SH STORE OPTIONS\nSet with \\fB\\-\\-option\\fR \\fINAME=VALUE\\fR.\n";
  for (const OptionInfo& option : option_table()) {
    text += item(option.name,
                 fmt::format("{} Values: {}; default: {}.", option.effect, option.range, option.default_value));
  }
  text += ".SH EXIT STATUS\n";
  for (const StatusMeaning& status : kStatuses) text += item(std::to_string(status.status), status.meaning);
  return text + ".SH ENVIRONMENT\n" + item("NO_COLOR", "If set, disables colours, even on a terminal.");
}

}  // namespace

int run_manual(Arguments arguments) {
  CommandLine line(
      {.summary = "Prints the manual page of this command, in roff.", .example = "  tamis manual | man -l -"});
  if (!line.read(arguments)) return kExitOk;
  standard_output().write(page(describe_verbs()));
  return kExitOk;
}

}  // namespace tamis::cli
