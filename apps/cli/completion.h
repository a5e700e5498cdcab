// Scripts that let shells complete the command, made from what its verbs say of themselves.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

namespace tamis::cli {

using Verbs = std::span<const DescribedVerb>;

// One of each in completion_*.cc. A script completes verbs, options and the values that have names of ours; for all
// other words it leaves files to the shell.
std::string bash_completion(Verbs verbs);
std::string zsh_completion(Verbs verbs);
std::string fish_completion(Verbs verbs);

// What the scripts have in common:

/// A word that can stand where a verb, or a verb's second word, is expected.
struct VerbWord {
  std::string_view word;
  std::string_view summary;
};

/// The first words of verbs that have two: "filter".
std::vector<std::string_view> verb_groups(Verbs verbs);
/// The words that follow a group, or, for "", those a command line begins with, "help" included.
std::vector<VerbWord> words_after(std::string_view group, Verbs verbs);
/// "-o,--output" is "-o" and "--output".
std::vector<std::string_view> names_of(const VerbDescription::Argument& argument);
/// The values that can be listed: kinds, formats, "memory_bytes=", alternatives as in "tsv|csv". Empty for those that
/// cannot.
std::vector<std::string> values_of(const VerbDescription::Argument& argument);

}  // namespace tamis::cli
