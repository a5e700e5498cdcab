#include "filter/formats/guess.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "filter/formats/registry.h"

namespace tamis::foreign {
namespace {

using Candidates = std::vector<const Format*>;

std::string names_of(const Candidates& candidates) {
  std::string names;
  for (const Format* format : candidates) {
    names += names.empty() ? "" : ", ";
    names += format->info.name;
  }
  return names;
}

/// The format implied by an ending that only one system uses. Null: none.
const Format* promised_by_ending(std::string_view name) {
  if (name.ends_with(".parquet")) return &kParquetFormat;
  if (name.ends_with(".ldb")) return &kLevelDbTableFormat;
  if (name.ends_with(".sst")) return &kRocksDbTableFormat;
  return nullptr;
}

}  // namespace

Result<const Format*> guess_format(const Input& input) {
  // Only the name distinguishes Cassandra's three layouts, and shows that a file is older than all of them.
  if (input.name.ends_with("Filter.db")) {
    const Result<std::string_view> layout = cassandra_format_of_name(input.name);
    if (layout.ok()) return find_format(*layout);
    if (layout.status().code() == StatusCode::kNotSupported) return layout.status();
  }
  Candidates strong;
  Candidates possible;
  for (const Format* format : registered_formats()) {
    const Fit fit = format->fit(input);
    if (fit == Fit::kStrong) strong.push_back(format);
    if (fit == Fit::kPossible) possible.push_back(format);
  }
  if (strong.size() == 1) return strong.front();
  // The ending decides between several matches, and which error to report if the content matches nothing.
  const Format* const promised = promised_by_ending(input.name);
  if (promised != nullptr && (strong.empty() || std::ranges::find(strong, promised) != strong.end())) return promised;
  if (!strong.empty()) {
    return Status::invalid_argument(
        fmt::format("{}: several formats fit, say which: {}", input.name, names_of(strong)));
  }
  if (possible.empty()) return Status::corruption(fmt::format("{}: no known filter format matches", input.name));
  return Status::invalid_argument(
      fmt::format("{}: nothing in the file tells its format, say which; possible: {}", input.name, names_of(possible)));
}

}  // namespace tamis::foreign
