// A filter file, whoever wrote it.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "command_line.h"
#include "filter_facts.h"
#include "tamis/filter.h"

namespace tamis::cli {

/// A file in tamis's container, checked and ready to be asked.
class OpenedFilter {
 public:
  explicit OpenedFilter(const std::string& path);

  [[nodiscard]] bool may_contain(std::string_view key) const;
  [[nodiscard]] FilterFacts facts() const;

 private:
  Filter filter_;
};

}  // namespace tamis::cli
