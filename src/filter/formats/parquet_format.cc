// Parquet files: the parts needed to reach their Bloom filters. The data is followed by
//
//     –  FileMetaData, Thrift compact
//     4  its length, little-endian
//     4  "PAR1"
//
// FileMetaData 4: row groups → RowGroup 1: columns → ColumnChunk 3: ColumnMetaData {1: physical type, 3: path, 14:
// bloom_filter_offset}. The filter's header and bitset are at that offset (sbbf_format.cc).
#include <fmt/core.h>

#include <optional>
#include <utility>
#include <vector>

#include "base/try.h"
#include "filter/formats/registry.h"
#include "filter/formats/sbbf.h"
#include "filter/formats/thrift_compact_format.h"

namespace tamis::foreign {
namespace {

constexpr std::int64_t kBooleanType = 0;

/// A column of a row group that has a filter.
struct ColumnFilter {
  std::uint32_t row_group = 0;
  std::string column = {};  // Path in the schema, joined by '.'.
  std::int64_t physical_type = 0;
  std::optional<std::int64_t> offset = {};
};

Result<std::string> read_path(ByteReader& reader) {
  TAMIS_TRY(const ThriftList list, read_thrift_list(reader));
  if (list.type != ThriftType::kBinary) return reader.corruption("a path that is not a list of names");
  std::string path;
  for (std::uint64_t i = 0; i < list.size; ++i) {
    TAMIS_TRY(const Bytes part, read_thrift_binary(reader));
    path.append(i == 0 ? "" : ".").append(as_text(part));
  }
  return path;
}

Status read_column_metadata(ByteReader& reader, ColumnFilter& column) {
  for (ThriftStruct fields(reader);;) {
    TAMIS_TRY(const ThriftField field, fields.next());
    if (field.type == ThriftType::kStop) return {};
    if (field.id == 1 && field.type == ThriftType::kI32) {
      TAMIS_TRY(column.physical_type, read_thrift_integer(reader));
    } else if (field.id == 3 && field.type == ThriftType::kList) {
      TAMIS_TRY(column.column, read_path(reader));
    } else if (field.id == 14 && field.type == ThriftType::kI64) {
      TAMIS_TRY(column.offset, read_thrift_integer(reader));
    } else {
      TAMIS_TRY_STATUS(skip_thrift_value(reader, field.type));
    }
  }
}

/// Reads each struct of a list with `read_one`.
template <typename ReadOne>
Status read_structs(ByteReader& reader, ReadOne read_one) {
  TAMIS_TRY(const ThriftList list, read_thrift_list(reader));
  if (list.size > 0 && list.type != ThriftType::kStruct)
    return reader.corruption("a list whose elements are not structs");
  for (std::uint64_t i = 0; i < list.size; ++i) TAMIS_TRY_STATUS(read_one(i));
  return {};
}

/// Reads one field of a struct with `read_field` and skips the others.
template <typename ReadField>
Status read_one_field(ByteReader& reader, std::int32_t id, ThriftType type, ReadField read_field) {
  for (ThriftStruct fields(reader);;) {
    TAMIS_TRY(const ThriftField field, fields.next());
    if (field.type == ThriftType::kStop) return {};
    const bool wanted = field.id == id && field.type == type;
    TAMIS_TRY_STATUS(wanted ? read_field() : skip_thrift_value(reader, field.type));
  }
}

Result<std::vector<ColumnFilter>> read_metadata(ByteReader& reader) {
  std::vector<ColumnFilter> filters;
  const auto read_column = [&](std::uint64_t row_group) -> Status {
    ColumnFilter column = {.row_group = static_cast<std::uint32_t>(row_group)};
    TAMIS_TRY_STATUS(
        read_one_field(reader, 3, ThriftType::kStruct, [&] { return read_column_metadata(reader, column); }));
    if (column.offset) filters.push_back(std::move(column));
    return {};
  };
  const auto read_row_group = [&](std::uint64_t row_group) {
    return read_one_field(reader, 1, ThriftType::kList,
                          [&] { return read_structs(reader, [&](std::uint64_t) { return read_column(row_group); }); });
  };
  TAMIS_TRY_STATUS(read_one_field(reader, 4, ThriftType::kList, [&] { return read_structs(reader, read_row_group); }));
  return filters;
}

Result<std::vector<ColumnFilter>> find_filters(const Input& input) {
  constexpr std::size_t kTailBytes = 8;
  ByteReader reader(input.bytes, input.name);
  const std::string_view file = as_text(input.bytes);
  if (file.ends_with("PARE")) return Status::not_supported(fmt::format("{}: the footer is encrypted", input.name));
  if (file.size() < kTailBytes || !file.ends_with("PAR1")) return reader.corruption("no Parquet footer");
  const std::uint64_t metadata_bytes = load_le<std::uint32_t>(file.data() + file.size() - kTailBytes);
  if (metadata_bytes > file.size() - kTailBytes) {
    return reader.corruption(fmt::format("a footer of {} bytes is longer than the file", metadata_bytes));
  }
  TAMIS_TRY_STATUS(reader.skip(file.size() - kTailBytes - metadata_bytes, "the data"));
  return read_metadata(reader);
}

/// The filter that the options select.
Result<ColumnFilter> choose_filter(const std::vector<ColumnFilter>& filters, const Input& input) {
  std::vector<const ColumnFilter*> chosen;
  std::string names;
  for (const ColumnFilter& filter : filters) {
    if (names.size() < 1000) names += fmt::format(" {} (row group {})", filter.column, filter.row_group);
    const bool column_fits = input.options.column.empty() || input.options.column == filter.column;
    const bool group_fits = !input.options.row_group || *input.options.row_group == filter.row_group;
    if (column_fits && group_fits) chosen.push_back(&filter);
  }
  if (filters.empty()) return Status::not_supported(fmt::format("{}: no column has a Bloom filter", input.name));
  if (chosen.size() == 1) return *chosen.front();
  const std::string_view problem = chosen.empty() ? "no such filter" : "say which column and row group";
  return Status::invalid_argument(fmt::format("{}: {}; there are:{}", input.name, problem, names));
}

Result<ProbePtr> open(const Input& input) {
  TAMIS_TRY(const std::vector<ColumnFilter> filters, find_filters(input));
  TAMIS_TRY(const ColumnFilter chosen, choose_filter(filters, input));
  if (chosen.physical_type == kBooleanType) {
    return Status::not_supported(fmt::format("{}: filters of booleans are not defined", input.name));
  }
  ByteReader reader(input.bytes, input.name);
  if (*chosen.offset < 0) return reader.corruption("a negative offset of a filter");
  TAMIS_TRY_STATUS(reader.skip(static_cast<std::uint64_t>(*chosen.offset), "the data before the filter"));
  return read_sbbf_with_header(reader);
}

Fit fit(const Input& input) { return as_text(input.bytes).ends_with("PAR1") ? Fit::kStrong : Fit::kNo; }

}  // namespace

constinit const Format kParquetFormat = {
    .info = {.name = "parquet", .system = "Apache Parquet", .summary = "the filter of a column, inside a Parquet file"},
    .takes = 0,
    .open = open,
    .build = nullptr,
    .fit = fit,
    .family = kSbbfFamily};

}  // namespace tamis::foreign
