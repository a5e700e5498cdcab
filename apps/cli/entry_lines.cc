#include "entry_lines.h"

#include <fmt/core.h>

#include "bytes_text.h"
#include "error.h"

namespace tamis::cli {

EntryLines::EntryLines(const std::string& path, const CommonOptions& options)
    : is_hex_(options.hex), lines_(path, "loading", "the value", options) {}

std::optional<EntryLines::Entry> EntryLines::next() {
  const std::optional<std::string_view> line = lines_.next();
  if (!line) return std::nullopt;
  const std::size_t tab = line->find('\t');
  if (tab == std::string_view::npos) {
    usage_error(fmt::format("{} has no tab; each line is KEY, a tab, VALUE", lines_.place()));
  }
  const Entry entry = {line->substr(0, tab), line->substr(tab + 1)};
  if (!is_hex_) return entry;
  return Entry{decode(entry.key, "key", key_), decode(entry.value, "value", value_)};
}

std::string_view EntryLines::decode(std::string_view text, std::string_view what, std::string& into) const {
  if (from_hex(text, into)) return into;
  usage_error(fmt::format("{}: the {} is not hexadecimal{}", lines_.place(), what, hint_on_hex(text)));
}

}  // namespace tamis::cli
