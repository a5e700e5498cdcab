// tamis table: inspects a table file.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/bytes_text.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "tamis/table_file.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kShownKeyBytes = 40;

/// In hexadecimal if a terminal would not show it, or with --hex; long keys are truncated.
std::string key_cell(std::string_view key, const CommonOptions& options) {
  if (!options.hex && is_printable(key) && key.size() <= kShownKeyBytes) return std::string(key);
  const std::string hex = to_hex(key.substr(0, kShownKeyBytes / 2));
  return fmt::format("0x{}{}", hex, key.size() > kShownKeyBytes / 2 ? "…" : "");
}

/// A key, or a name of a keyspace: any bytes.
bool is_bytes(const TableFile::Property& property) {
  return property.name.ends_with(" key") || property.name == "keyspace";
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
  if (text.empty() || text.size() > 19 || text.find_first_not_of("0123456789") != std::string::npos) return {};
  return std::stoull(text);
}

/// For people: thousands separators, sizes also in larger units, times as dates.
std::string property_cell(const TableFile::Property& property, const CommonOptions& options) {
  if (is_bytes(property)) return key_cell(property.text, options);
  if (property.name == "filter rate" && property.text != "none")
    return human_rate(std::strtod(property.text.c_str(), nullptr));
  const std::optional<std::uint64_t> number = whole_number(property.text);
  if (!number) return property.text;
  if (property.name.ends_with("(unix seconds)"))
    return *number == 0 ? "none" : fmt::format("{} ({})", *number, date_text(*number));
  if (property.name.ends_with("bytes") && *number >= 1024)
    return fmt::format("{} ({})", with_thousands(*number), human_bytes(*number));
  return with_thousands(*number);
}

void print_properties(const TableFile& file, const CommonOptions& options) {
  Table table({{"", Table::Align::kLeft}, {"", Table::Align::kWrap}});
  JsonObject object;
  for (const TableFile::Property& property : file.properties()) {
    std::string name = property.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    if (is_bytes(property)) {
      object.add_bytes(name, property.text, options.hex);
    } else if (const std::optional<std::uint64_t> number = whole_number(property.text)) {
      object.add(name, *number);
    } else {
      object.add(name, property.text);
    }
    table.add({property.name, property_cell(property, options)});
  }
  standard_output().write(options.json ? object.line() : table.text());
}

JsonObject block_json(const TableFile::Block& block, const CommonOptions& options) {
  return JsonObject()
      .add("block", block.number)
      .add("offset", block.offset)
      .add("stored_bytes", block.stored_bytes)
      .add("block_bytes", block.block_bytes)
      .add("entries", block.entries)
      .add("codec", block.codec)
      .add_bytes("first_key", block.first_key, options.hex)
      .add_bytes("separator", block.separator, options.hex);
}

void print_blocks(const TableFile& file, const CommonOptions& options) {
  Table table({{"block"},
               {"offset"},
               {"stored"},
               {"bytes"},
               {"entries"},
               {"codec", Table::Align::kLeft},
               {"separator", Table::Align::kLeft}});
  for (std::uint32_t number = 0; number < file.blocks(); ++number) {
    const TableFile::Block block = need(file.block(number));
    if (options.json) {
      standard_output().write(block_json(block, options).line());
      continue;
    }
    table.add({std::to_string(number), std::to_string(block.offset), std::to_string(block.stored_bytes),
               std::to_string(block.block_bytes), std::to_string(block.entries), block.codec,
               key_cell(block.separator, options)});
  }
  if (!options.json) standard_output().write(table.text());
}

JsonObject apart_json(const TableFile::ApartValue& value) {
  return JsonObject()
      .add("file", value.file)
      .add("offset", value.offset)
      .add("stored_bytes", value.stored_bytes)
      .add("value_bytes", value.value_bytes);
}

/// The value, or where it is.
std::string value_cell(const TableFile::Entries& entries, const CommonOptions& options) {
  const std::optional<TableFile::ApartValue> apart = entries.apart();
  if (!apart) return shown(entries.value(), options);
  return fmt::format("{} bytes at {} of {:06}.values", apart->value_bytes, apart->offset, apart->file);
}

/// KEY<TAB>SEQUENCE<TAB>put|delete<TAB>VALUE, including old versions and deletes.
void print_entries(const TableFile& file, const CommonOptions& options) {
  TableFile::Entries entries = file.entries();
  while (entries.next()) {
    const std::string_view kind = entries.is_delete() ? "delete" : entries.is_merge() ? "merge" : "put";
    if (options.json) {
      JsonObject object;
      object.add_bytes("key", entries.key(), options.hex).add("sequence", entries.sequence()).add("kind", kind);
      if (entries.apart()) {
        object.add("apart", apart_json(*entries.apart()));
      } else if (!entries.is_delete()) {
        object.add_bytes("value", entries.value(), options.hex);
      }
      if (entries.expires_at()) object.add("expires_at", milliseconds_of(*entries.expires_at()));
      standard_output().write(object.line());
    } else {
      standard_output().print("{}\t{}\t{}\t{}\n", shown(entries.key(), options), entries.sequence(), kind,
                              value_cell(entries, options));
    }
  }
  need(entries.status());
}

/// A missing file is not damage; a newer one is.
TableFile open_table(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    throw CommandError(kExitInputOutput, fmt::format("{}: is a folder; name one of its .tms files", path));
  }
  Result<TableFile> file = TableFile::open(path);
  if (!file.ok() && file.status().code() == StatusCode::kNotSupported) {
    throw CommandError(kExitCorruption, std::string(file.status().message()));
  }
  return need(std::move(file));
}

}  // namespace

int run_table(Arguments arguments) {
  std::string path;
  bool entries = false;
  bool blocks = false;
  CommandLine line({.summary = "Inspects one table file of a store: its properties, its blocks with their index "
                               "entries, or its entries.",
                    .usage = "FILE.tms [--entries|--blocks]",
                    .example = "  tamis table cities/000013.tms --blocks",
                    .common = kJson | kHex});
  line.operand("FILE.tms", "the table", path);
  line.flag("--entries", "list key, sequence, put or delete, and value of every entry, tab-separated", entries);
  line.flag("--blocks", "list every block: offset, sizes, entries, codec, separator in the index", blocks);
  if (!line.read(arguments)) return kExitOk;
  if (entries && blocks) usage_error("give only one of --entries, --blocks; see 'tamis table --help'");
  const TableFile file = open_table(path);
  if (entries) {
    print_entries(file, line.common());
  } else if (blocks) {
    print_blocks(file, line.common());
  } else {
    print_properties(file, line.common());
  }
  return kExitOk;
}

}  // namespace tamis::cli
