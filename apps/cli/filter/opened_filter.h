// A filter file of any origin.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cli/command_line.h"
#include "cli/filter/facts.h"
#include "tamis/filter.h"
#include "tamis/foreign.h"

namespace tamis::cli {

/// A file's format, and what the file does not say about itself.
struct OpenArguments {
  std::string path;
  foreign::OpenOptions options;

  void declare(CommandLine& line);
};

/// A file in tamis's container or in a foreign format, checked and ready for lookups.
class OpenedFilter {
 public:
  /// Throws a CommandError that names the file. Also reads pipes, which the library cannot map.
  explicit OpenedFilter(const OpenArguments& arguments);

  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] FilterFacts facts() const;
  /// The same bits in another format. Throws a CommandError with the reason if that is impossible.
  [[nodiscard]] std::string convert_to(const std::string& format) const;

 private:
  std::string path_;
  std::variant<Filter, foreign::ForeignFilter> filter_;
};

}  // namespace tamis::cli
