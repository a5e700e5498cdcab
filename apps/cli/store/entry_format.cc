#include "cli/store/entry_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/bytes_text.h"
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
                 const CommonOptions& options) {
  if (format == EntryFormat::kJsonLines) {
    return standard_output().write(entry_json(key, value, true, options).line());
  }
  write_field(key, format, options);
  if (value) {
    standard_output().write(format == EntryFormat::kCsv ? "," : "\t");
    write_field(*value, format, options);
  }
  standard_output().write("\n");
}

}  // namespace tamis::cli
