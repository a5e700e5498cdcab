// CSV (RFC 4180): two fields per record. A quoted field may hold commas, doubled quotes and line ends; LF or CR LF ends
// a record.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/error.h"
#include "cli/numbers.h"
#include "cli/store/entry_source.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // Excel begins its files with it.

class CsvEntries : public EntrySource {
 public:
  CsvEntries(Lines& lines, const EntryInput& input) : EntrySource(lines), input_(input) {}

  std::optional<Entry> next() override {
    if (!read_record()) return std::nullopt;
    if (std::exchange(is_first_, false) && is_header() && !read_record()) return std::nullopt;
    if (count_ != 2) {
      usage_error(fmt::format("{} has {}; each record is KEY,VALUE{}", place(),
                              count_ == 1 ? "1 field" : fmt::format("{} fields", count_),
                              count_ == 1 ? "" : "; quote values that contain commas"));
    }
    if (!input_.is_hex) return Entry{fields_[0], fields_[1]};
    return Entry{decoded(fields_[0], "key", place(), key_), decoded(fields_[1], "value", place(), value_)};
  }

  [[nodiscard]] std::string place() const override { return lines_.place(begins_); }

 private:
  [[nodiscard]] bool is_header() const {
    return input_.has_header.value_or(count_ == 2 && fields_[0] == "key" && fields_[1] == "value");
  }

  /// Reads into fields_; surplus fields go into the last. False at the end of the file.
  bool read_record() {
    const std::optional<std::string_view> line = lines_.next();
    if (!line) return false;
    begins_ = lines_.number();
    std::string_view rest = *line;
    if (is_first_ && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    for (count_ = 1;; ++count_) {
      std::string& field = fields_[std::min(count_, fields_.size()) - 1];
      rest = rest.starts_with('"') ? take_quoted(rest, field) : take_plain(rest, field);
      if (rest.empty()) return true;
      rest.remove_prefix(1);  // The comma.
    }
  }

  /// The rest of the line: empty, or beginning with the comma after the field.
  std::string_view take_plain(std::string_view line, std::string& field) {
    const std::size_t end = std::min(line.find(','), line.size());
    std::string_view text = line.substr(0, end);
    if (end == line.size() && text.ends_with('\r')) text.remove_suffix(1);
    if (text.find('"') != std::string_view::npos) {
      usage_error(fmt::format("{}: quote in an unquoted field; quote the field and double the quote", lines_.place()));
    }
    field = text;
    return line.substr(end);
  }

  std::string_view take_quoted(std::string_view line, std::string& field) {
    field.clear();
    line.remove_prefix(1);
    for (;;) {
      const std::size_t quote = line.find('"');
      field += line.substr(0, quote);
      if (quote == std::string_view::npos) {
        line = next_line_of(field);
        continue;
      }
      line.remove_prefix(quote + 1);
      if (!line.starts_with('"')) break;
      field += '"';
      line.remove_prefix(1);
    }
    if (line == "\r") line = {};
    if (line.empty() || line.starts_with(',')) return line;
    usage_error(
        fmt::format("{}: expected a comma or the end of the line after a closing quote; double a quote inside "
                    "a field",
                    lines_.place()));
  }

  /// Continues a quoted field on the next line.
  std::string_view next_line_of(std::string& field) {
    const std::optional<std::string_view> line = lines_.next();
    if (!line) refuse_open_quote("never closed");
    if (field.size() + line->size() > input_.longest_record) {
      refuse_open_quote(fmt::format("not closed within {}", human_bytes(input_.longest_record)));
    }
    field += '\n';
    return *line;
  }

  [[noreturn]] void refuse_open_quote(std::string_view what) const {
    usage_error(
        fmt::format("{}: a quote is opened and {}; close it, or quote the field and double the quote", place(), what));
  }

  EntryInput input_;
  bool is_first_ = true;
  std::uint64_t begins_ = 0;  // The record's first line.
  std::array<std::string, 2> fields_;
  std::size_t count_ = 0;
  std::string key_;
  std::string value_;
};

}  // namespace

std::unique_ptr<EntrySource> csv_entries(Lines& lines, const EntryInput& input) {
  return std::make_unique<CsvEntries>(lines, input);
}

}  // namespace tamis::cli
