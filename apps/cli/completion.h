// Shell completion scripts, generated from the verbs' help.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"

namespace tamis::cli {

using Verbs = std::span<const DescribedVerb>;

// One in each completion_*.cc. A script completes verbs, options and named values; other words are left to the shell's
// file completion.
std::string bash_completion(Verbs verbs);
std::string zsh_completion(Verbs verbs);
std::string fish_completion(Verbs verbs);

// Shared by the scripts:

/// A word that can be a verb, or a verb's second word.
struct VerbWord {
  std::string_view word;
  std::string_view summary;
};

/// The first words of two-word verbs: "filter".
std::vector<std::string_view> verb_groups(Verbs verbs);
/// The words after a group, or, for "", the first words of a command line, including "help".
std::vector<VerbWord> words_after(std::string_view group, Verbs verbs);
/// "-o,--output" is "-o" and "--output".
std::vector<std::string_view> names_of(const VerbDescription::Argument& argument);
/// Values that can be listed: kinds, formats, "memory_bytes=", alternatives such as "tsv|csv". Otherwise empty.
std::vector<std::string> values_of(const VerbDescription::Argument& argument);

}  // namespace tamis::cli
