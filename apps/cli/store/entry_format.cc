#include "cli/store/entry_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "cli/error.h"
#include "cli/json.h"
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

/// Key and value in formats that have a separator.
void write_fields(std::string_view key, std::string_view value, EntryFormat format) {
  Output& out = standard_output();
  if (format == EntryFormat::kCsv) {
    write_csv_field(key);
    out.write(",");
    write_csv_field(value);
  } else {
    out.write(key);
    out.write("\t");
    out.write(value);
  }
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

void print_entry(std::string_view key, std::string_view value, EntryFormat format, const CommonOptions& options) {
  if (format == EntryFormat::kJsonLines) {
    standard_output().write(entry_json(key, value, options));
  } else if (options.hex) {
    write_fields(shown(key, options), shown(value, options), format);
  } else {
    write_fields(key, value, format);
  }
  standard_output().write("\n");
}

void print_key(std::string_view key, EntryFormat format, const CommonOptions& options) {
  if (format == EntryFormat::kJsonLines) {
    JsonObject object;
    add_user_bytes(object, "key", key, options);
    standard_output().write(object.add("found", true).text());
  } else if (format == EntryFormat::kCsv) {
    write_csv_field(shown(key, options));
  } else {
    standard_output().write(shown(key, options));
  }
  standard_output().write("\n");
}

}  // namespace tamis::cli
