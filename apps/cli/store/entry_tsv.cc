// KEY<TAB>VALUE lines: the value is everything after the first tab.
#include <fmt/core.h>

#include "cli/error.h"
#include "cli/store/entry_source.h"

namespace tamis::cli {
namespace {

class TsvEntries : public EntrySource {
 public:
  TsvEntries(Lines& lines, const EntryInput& input)
      : EntrySource(lines), is_hex_(input.is_hex), strips_return_(input.strips_return) {
    if (strips_return_ || is_hex_) return;  // A CR is not hexadecimal either.
    lines.warn_of_carriage_return("which is part of the value; if lines end with CR LF, load with --crlf");
  }

  std::optional<Entry> next() override {
    std::optional<std::string_view> line = lines_.next();
    if (!line) return std::nullopt;
    if (strips_return_ && line->ends_with('\r')) line->remove_suffix(1);
    const std::size_t tab = line->find('\t');
    if (tab == std::string_view::npos) {
      usage_error(fmt::format("{} has no tab; each line is KEY<TAB>VALUE", place()));
    }
    const Entry entry = {line->substr(0, tab), line->substr(tab + 1)};
    if (!is_hex_) return entry;
    return Entry{decoded(entry.key, "key", place(), key_), decoded(entry.value, "value", place(), value_)};
  }

 private:
  bool is_hex_;
  bool strips_return_;
  std::string key_;
  std::string value_;
};

}  // namespace

std::unique_ptr<EntrySource> tsv_entries(Lines& lines, const EntryInput& input) {
  return std::make_unique<TsvEntries>(lines, input);
}

}  // namespace tamis::cli
