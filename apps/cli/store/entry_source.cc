#include "cli/store/entry_source.h"

#include <fmt/core.h>

#include "cli/bytes_text.h"
#include "cli/error.h"

namespace tamis::cli {

std::unique_ptr<EntrySource> entries_in(Lines& lines, const EntryInput& input) {
  lines.refuse_longer_than(input.longest_record);
  switch (input.format) {
    case EntryFormat::kTsv: return tsv_entries(lines, input);
    case EntryFormat::kCsv: return csv_entries(lines, input);
    case EntryFormat::kJsonLines: return json_entries(lines);
  }
  return nullptr;
}

std::string_view decoded(std::string_view field, std::string_view what, const std::string& place, std::string& into) {
  if (from_hex(field, into)) return into;
  const std::string_view hint =
      field.ends_with('\r') ? ": it ends with a carriage return; load with --crlf" : hint_on_hex(field);
  usage_error(fmt::format("{}: the {} is not hexadecimal{}", place, what, hint));
}

}  // namespace tamis::cli
