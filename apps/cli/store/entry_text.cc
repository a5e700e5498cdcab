#include "cli/store/entry_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/bytes_text.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/store/common.h"

namespace tamis::cli {
namespace {

struct FormatName {
  std::string_view name;
  EntryFormat format;
};

constexpr auto kFormats = std::to_array<FormatName>(
    {{"tsv", EntryFormat::kTsv}, {"csv", EntryFormat::kCsv}, {"jsonl", EntryFormat::kJsonLines}});

/// A field per RFC 4180: quoted if necessary, with inner quotes doubled.
void write_csv_field(std::string_view field) {
  Output& out = standard_output();
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return out.write(field);
  out.write("\"");
  while (!field.empty()) {
    const std::size_t quote = std::min(field.find('"'), field.size());
    out.write(field.substr(0, quote));
    if (quote < field.size()) out.write("\"\"");
    field.remove_prefix(std::min(quote + 1, field.size()));
  }
  out.write("\"");
}

void write_field(std::string_view field, EntryFormat format, const CommonOptions& options) {
  if (options.hex) return standard_output().write(to_hex(field));  // Which CSV need not quote.
  return format == EntryFormat::kCsv ? write_csv_field(field) : standard_output().write(field);
}

using Json = nlohmann::json;

/// KEY<TAB>VALUE lines: the value is everything after the first tab.
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
    return decoded(entry.key, entry.value);
  }

 private:
  bool is_hex_;
  bool strips_return_;
};

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // Excel begins its files with it.

/// RFC 4180, two fields per record: a quoted field may hold commas, doubled quotes and line ends; LF or CR LF ends a
/// record.
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
    return input_.is_hex ? decoded(fields_[0], fields_[1]) : Entry{fields_[0], fields_[1]};
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
};

constexpr std::string_view kExample = R"(each line is an object such as {"key": "paris", "value": "2102650"})";

/// As written by dump --json: {"key": "paris", "value": "2102650"}, with key_hex and value_hex for bytes that are not
/// UTF-8, and keyspace for entries that are not in the default one.
class JsonEntries : public EntrySource {
  static constexpr std::uint64_t kMaxMilliseconds = 9'000'000'000'000;  // In the 23rd century: what time points hold.
  static constexpr std::array<std::string_view, 6> kMembers = {"key",       "key_hex",  "value",
                                                               "value_hex", "keyspace", "keyspace_hex"};

 public:
  explicit JsonEntries(Lines& lines) : EntrySource(lines) {}

  std::optional<Entry> next() override {
    const std::optional<std::string_view> line = lines_.next();
    if (!line) return std::nullopt;
    const Json object = parse(*line);
    for (const auto& [name, value] : object.items()) check_member(name, value);
    return Entry{bytes_of(object, "key", key_), bytes_of(object, "value", value_), keyspace_of(object),
                 expiry_of(object)};
  }

 private:
  [[nodiscard]] Json parse(std::string_view line) const {
    try {
      // The parser treats NUL as the end of its input.
      const std::size_t nul = line.find('\0');
      if (nul != std::string_view::npos) refuse_at(nul + 1);
      Json object = Json::parse(line);
      if (!object.is_object()) usage_error(fmt::format("{} is not a JSON object; {}", place(), kExample));
      return object;
    } catch (const Json::parse_error& error) {
      refuse_at(error.byte);
    }
  }

  [[noreturn]] void refuse_at(std::size_t byte) const {
    usage_error(fmt::format("{} is not JSON, at byte {} of the line; {}", place(), byte, kExample));
  }

  /// Refuses unknown members, which would otherwise be lost. "found" comes from get and scan.
  void check_member(const std::string& name, const Json& value) const {
    if (name == "found" && value == true) return;
    if (name == "expires_at") {
      if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kMaxMilliseconds) return;
      usage_error(fmt::format("{}: 'expires_at' is not a number of milliseconds since 1970", place()));
    }
    if (std::ranges::find(kMembers, name) == kMembers.end()) {
      usage_error(fmt::format("{}: unknown member '{}'; remove it or move it into the value", place(), name));
    }
    if (!value.is_string()) usage_error(fmt::format("{}: '{}' is not a string; put it in quotes", place(), name));
  }

  static std::optional<ExpiryTime> expiry_of(const Json& object) {
    const auto found = object.find("expires_at");
    if (found == object.end()) return {};
    return ExpiryTime(std::chrono::milliseconds(found->get<std::int64_t>()));
  }

  std::string_view keyspace_of(const Json& object) {
    if (!object.contains("keyspace") && !object.contains("keyspace_hex")) return {};
    const std::string_view name = bytes_of(object, "keyspace", keyspace_);
    if (name.empty() || name.size() > 255) {
      usage_error(fmt::format("{}: the name of a keyspace has 1 to 255 bytes", place()));
    }
    return name;
  }

  /// The value of `name` or `name`_hex.
  std::string_view bytes_of(const Json& object, const std::string& name, std::string& into) const {
    const auto text = object.find(name);
    const auto hex = object.find(name + "_hex");
    if ((text == object.end()) == (hex == object.end())) {
      usage_error(fmt::format("{0} has {1} '{2}' {3} '{2}_hex'; {4}", place(),
                              text == object.end() ? "neither" : "both", name, text == object.end() ? "nor" : "and",
                              kExample));
    }
    if (text != object.end()) {
      into = text->get_ref<const std::string&>();
    } else if (!from_hex(hex->get_ref<const std::string&>(), into)) {
      usage_error(fmt::format("{}: '{}_hex' is not hexadecimal, two digits per byte", place(), name));
    }
    return into;
  }
};

}  // namespace

void FormatArguments::declare(CommandLine& line) {
  line.option("--format", "tsv|csv|jsonl",
              "KEY<TAB>VALUE lines (default), CSV with the header key,value, or JSON lines", name);
  line.flag("--csv", "same as --format csv", csv);
}

std::optional<EntryFormat> FormatArguments::named(const CommandLine& line) const {
  if (csv && line.given("--format")) usage_error("give only one of --format, --csv");
  if (csv) return EntryFormat::kCsv;
  if (!line.given("--format")) return std::nullopt;
  const auto* const found = std::ranges::find(kFormats, name, &FormatName::name);
  if (found == kFormats.end()) usage_error(fmt::format("--format: '{}' is not one of tsv, csv, jsonl", name));
  return found->format;
}

EntryFormat FormatArguments::written(const CommandLine& line) const {
  const std::optional<EntryFormat> wanted = named(line);
  if (!line.common().json) return wanted.value_or(EntryFormat::kTsv);
  if (wanted && *wanted != EntryFormat::kJsonLines) {
    usage_error(fmt::format("give only one of --json, {}", csv ? "--csv" : "--format"));
  }
  return EntryFormat::kJsonLines;
}

void print_entry_header(EntryFormat format, bool keys_only) {
  if (format == EntryFormat::kCsv) standard_output().write(keys_only ? "key\n" : "key,value\n");
}

void print_entry(std::string_view key, std::optional<std::string_view> value, EntryFormat format,
                 const CommonOptions& options, std::string_view keyspace, std::optional<ExpiryTime> expires_at) {
  if (format == EntryFormat::kJsonLines) {
    JsonObject object = entry_json(key, value, true, options);
    if (!keyspace.empty()) object.add_bytes("keyspace", keyspace);
    if (expires_at) object.add("expires_at", milliseconds_of(*expires_at));
    return standard_output().write(object.line());
  }
  write_field(key, format, options);
  if (value) {
    standard_output().write(format == EntryFormat::kCsv ? "," : "\t");
    write_field(*value, format, options);
  }
  standard_output().write("\n");
}

EntrySource::Entry EntrySource::decoded(std::string_view key, std::string_view value) {
  const auto decode = [this](std::string_view field, std::string_view what, std::string& into) {
    if (from_hex(field, into)) return;
    const std::string_view hint =
        field.ends_with('\r') ? ": it ends with a carriage return; load with --crlf" : hint_on_hex(field);
    usage_error(fmt::format("{}: the {} is not hexadecimal{}", place(), what, hint));
  };
  decode(key, "key", key_);
  decode(value, "value", value_);
  return {key_, value_};
}

std::uint64_t longest_record_of(EntryFormat format, bool is_hex) {
  constexpr std::uint64_t kNames = 1024;  // Of members and keyspaces, and what separates fields.
  constexpr std::uint64_t kPlain = Batch::kMaxKeyBytes + Batch::kMaxValueBytes;
  switch (format) {
    case EntryFormat::kTsv: return (is_hex ? 2 : 1) * kPlain + kNames;
    case EntryFormat::kCsv: return 2 * kPlain + kNames;            // Hexadecimal, or nothing but quotes, each doubled.
    case EntryFormat::kJsonLines: return 6 * kPlain + 6 * kNames;  // JSON's \u0000 is six bytes for one.
  }
  return 0;
}

std::unique_ptr<EntrySource> entries_in(Lines& lines, const EntryInput& input) {
  lines.refuse_longer_than(input.longest_record);
  switch (input.format) {
    case EntryFormat::kTsv: return std::make_unique<TsvEntries>(lines, input);
    case EntryFormat::kCsv: return std::make_unique<CsvEntries>(lines, input);
    case EntryFormat::kJsonLines: return std::make_unique<JsonEntries>(lines);
  }
  return nullptr;
}

}  // namespace tamis::cli
