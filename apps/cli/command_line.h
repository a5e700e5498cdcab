// The arguments of one verb: declared once, then parsed, checked and documented by --help.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::cli {

/// Options that every verb accepts, as bits. Scripts may pass them anywhere.
enum CommonOption : unsigned { kJson = 1, kHex = 2, kQuiet = 4, kNoProgress = 8 };

/// Whether a common option was given. It records that a verb consulted it: a test compares what verbs consult with what
/// their help lists.
///
/// Threads: one at a time.
class CommonFlag {
 public:
  explicit CommonFlag(CommonOption option) : option_(option) {}

  operator bool() const {  // NOLINT(google-explicit-constructor): used as a bool.
    asked_for_ |= option_;
    return value_;
  }
  /// The common options consulted so far in this process.
  [[nodiscard]] static unsigned asked_for() { return asked_for_; }
  static void forget() { asked_for_ = 0; }

  /// Where the parser puts what was given.
  [[nodiscard]] bool& target() { return value_; }

 private:
  static inline unsigned asked_for_ = 0;
  CommonOption option_;
  bool value_ = false;
};

struct CommonOptions {
  CommonFlag json{kJson};
  CommonFlag hex{kHex};
  CommonFlag quiet{kQuiet};
  CommonFlag no_progress{kNoProgress};

  [[nodiscard]] bool wants_progress() const { return !quiet && !no_progress; }
};

/// What --help says about a verb besides its name and options.
struct VerbHelp {
  std::string_view summary;     ///< A sentence or two.
  std::string_view usage = {};  ///< The usage line after the name.
  std::string_view example;     ///< One or more lines to paste.
  unsigned common = 0;          ///< The CommonOptions that affect this verb; only these are listed.
};

/// A verb as its --help documents it, for the manual page and shell completion.
struct VerbDescription {
  struct Argument {
    std::string names;  ///< "-o,--output" for an option, "KEY..." for operands.
    std::string value;  ///< The option's argument; empty for a flag.
    std::string help;
    bool is_common = false;  ///< Documented once for all verbs.

    [[nodiscard]] bool is_option() const { return names.starts_with('-'); }
    /// "-o,--output OUT".
    [[nodiscard]] std::string text() const { return value.empty() ? names : names + " " + value; }
  };

  VerbHelp help;
  std::vector<Argument> arguments;
};

/// What a verb is called with.
struct Arguments {
  std::string_view verb;                   ///< Its name as typed: "filter size".
  std::span<const std::string> words;      ///< What follows it.
  VerbDescription* description = nullptr;  ///< If set, the verb only describes itself here.
};

/// Declares a verb's options and their variables, then parses the arguments into them.
///
///     CommandLine line({.summary = "Computes …", …});
///     line.option("--keys", "N", "number of keys", keys, parse_count);
///     if (!line.read(arguments)) return kExitOk;  // Help was printed.
///
/// Invalid arguments throw CommandError with status 2. The variables must outlive `read`.
class CommandLine {
 public:
  explicit CommandLine(VerbHelp help);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// `names` as in "-o,--output".
  void flag(std::string_view names, std::string_view help, bool& target);
  /// Accepted but not listed: options of a group of verbs that have no effect in this one.
  void unlisted_flag(std::string_view names, bool& target);
  void unlisted_option(std::string_view names, std::vector<std::string>& target);
  void option(std::string_view names, std::string_view value, std::string_view help, std::string& target);
  template <typename T>
  void option(std::string_view names, std::string_view value, std::string_view help, std::optional<T>& target,
              T (*parse)(std::string_view option, std::string_view text)) {
    const std::string name(names.substr(0, names.find(',')));
    add_option(names, value, help, [&target, parse, name](const std::string& text) { target = parse(name, text); });
  }
  /// An option that takes one or more values and may be repeated.
  void list(std::string_view names, std::string_view value, std::string_view help, std::vector<std::string>& target);
  /// An option that takes one value and may be repeated.
  void repeated(std::string_view names, std::string_view value, std::string_view help,
                std::vector<std::string>& target);
  /// A required operand.
  void operand(std::string_view name, std::string_view help, std::string& target);
  /// An optional operand.
  void optional_operand(std::string_view name, std::string_view help, std::optional<std::string>& target);
  /// All remaining operands.
  void operands(std::string_view name, std::string_view help, std::vector<std::string>& target);

  /// False if there is nothing left to do: help was printed, or the verb was described.
  [[nodiscard]] bool read(const Arguments& arguments);

  /// These CommonOptions, by default all, and --help.
  static std::vector<VerbDescription::Argument> common_arguments(unsigned options = ~0U);

  // After read:
  [[nodiscard]] bool given(std::string_view option) const;
  void need_all(std::initializer_list<std::string_view> options) const;
  void need_one_of(std::initializer_list<std::string_view> options) const;
  /// Refuses these options; `because` completes the message "--seed …".
  void refuse(std::initializer_list<std::string_view> options, std::string_view because) const;
  [[nodiscard]] const CommonOptions& common() const { return common_; }

 private:
  struct Parser;  // CLI11 takes seconds to compile, so it stays in the .cc.
  using Argument = VerbDescription::Argument;

  struct Operand {
    std::string_view name;
    std::string* target;
  };

  void add_option(std::string_view names, std::string_view value, std::string_view help,
                  const std::function<void(const std::string&)>& take);
  void take_operands(std::vector<std::string> words);
  [[nodiscard]] std::string help_text() const;
  [[noreturn]] void refuse_unknown(const std::string& argument) const;

  VerbHelp help_;
  std::string_view verb_;
  CommonOptions common_;
  std::vector<Argument> explained_;
  std::vector<Operand> operands_;
  std::optional<std::string>* optional_operand_ = nullptr;
  std::vector<std::string>* further_operands_ = nullptr;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tamis::cli
