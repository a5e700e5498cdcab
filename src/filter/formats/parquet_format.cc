// Apache Parquet's split-block Bloom filter: the bitset alone (sbbf), after its Thrift header (sbbf-thrift), and in a
// whole Parquet file (parquet).
//
//     bitset   blocks of 32 bytes, each eight u32 little-endian
//     header   Thrift compact {1: i32 bytes of bitset, 2: {1: {}} block, 3: {1: {}} xxHash, 4: {1: {}} uncompressed}
//
// x = XXH64(value). Block ((x >> 32)·blocks) >> 32; in word i the bit (low 32 bits of x · salt_i) >> 27.
//
// In a Parquet file, the data is followed by
//
//     –  FileMetaData, Thrift compact
//     4  its length, little-endian
//     4  "PAR1"
//
// FileMetaData 4: row groups → RowGroup 1: columns → ColumnChunk 3: ColumnMetaData {1: physical type, 3: path, 14:
// bloom_filter_offset}. The filter's header and bitset are at that offset.
#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <bit>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/try.h"
#include "filter/formats/classic.h"
#include "filter/formats/thrift_compact_format.h"
#include "filter/split.h"

namespace tamis::foreign {
namespace {

constexpr std::uint32_t kBlockBits = 8 * kSplitBlockBytes;

class SplitBlockPositions {
 public:
  SplitBlockPositions(std::string_view key, const BloomShape& shape) : hash_(XXH64(key.data(), key.size(), 0)) {
    const auto blocks = static_cast<std::uint32_t>(shape.bits / kBlockBits);
    word_start_ = std::uint64_t{split_block_of(hash_, blocks)} * kBlockBits;
  }
  std::uint64_t next() {
    const std::uint64_t position = word_start_ + split_bit(hash_, word_++);
    word_start_ += 32;
    return position;
  }

 private:
  std::uint64_t hash_;
  std::uint64_t word_start_;
  std::uint32_t word_ = 0;
};

constexpr BloomScheme kScheme = kBloomScheme<SplitBlockPositions, BitOrder::kBytes>;

/// The length of a bitset determines its shape. numBytes is an i32, so larger ones do not exist.
Result<BloomShape> shape_of(const ByteReader& reader, std::int64_t bytes) {
  if (bytes > 0 && bytes % std::int64_t{kSplitBlockBytes} == 0 && bytes <= 0x7fffffff) {
    return BloomShape{.bits = static_cast<std::uint64_t>(bytes) * 8, .hashes = kSplitWords, .block_bits = kBlockBits};
  }
  return reader.corruption(fmt::format("a bitset of {} bytes is not whole 32-byte blocks", bytes));
}

Status unknown_choice(std::string_view what) {
  return Status::not_supported(fmt::format("a Parquet filter with an unknown {}", what));
}

/// A union whose only known member, number 1, is an empty struct.
Status read_only_choice(ByteReader& reader, std::string_view what) {
  int members = 0;
  TAMIS_TRY_STATUS(read_thrift_struct(reader, [&](const ThriftField& field) {
    if (++members > 1) return reader.corruption("a union with two members");
    const bool known = field.id == 1 && field.type == ThriftType::kStruct;
    return known ? skip_thrift_value(reader, field.type) : unknown_choice(what);
  }));
  return members == 1 ? Status() : unknown_choice(what);
}

Result<BloomShape> read_header(ByteReader& reader, const OpenOptions&) {
  constexpr std::string_view kChoices[] = {"algorithm", "hash", "compression"};
  std::int64_t bytes = 0;
  std::uint32_t seen = 0;
  TAMIS_TRY_STATUS(read_thrift_struct(reader, [&](const ThriftField& field) -> Status {
    seen |= 1U << (field.id % 32);
    if (field.id >= 2 && field.id <= 4 && field.type == ThriftType::kStruct) {
      return read_only_choice(reader, kChoices[field.id - 2]);
    }
    if (field.id != 1 || field.type != ThriftType::kI32) {
      return reader.corruption(fmt::format("unexpected field {} in a filter's header", field.id));
    }
    TAMIS_TRY(bytes, read_thrift_integer(reader));
    return {};
  }));
  if (seen != 0b11110) return reader.corruption("a filter's header without all four fields");
  return shape_of(reader, bytes);
}

void write_header(std::string& file, const BloomShape& shape) {
  constexpr std::string_view kChoices("\x1c\x1c\0\0\x1c\x1c\0\0\x1c\x1c\0\0\0", 13);
  file.push_back('\x15');                   // Field 1, i32.
  append_varint(file, shape.bits / 8 * 2);  // Zigzag.
  file.append(kChoices);
}

/// The bitset alone: the whole file.
Result<BloomShape> read_no_header(ByteReader& reader, const OpenOptions&) {
  return shape_of(reader, static_cast<std::int64_t>(reader.remaining()));
}
void write_no_header(std::string&, const BloomShape&) {}

/// The blocks given, or as many as Parquet's writers choose: enough bits for the rate, rounded up to a power of two, at
/// most 128 MiB.
Result<BloomShape> size(const BuildOptions& options, std::uint64_t keys) {
  constexpr std::uint64_t kMaxBlocks = (std::uint64_t{128} << 20) / kSplitBlockBytes;
  std::uint64_t blocks = options.blocks.value_or(1);
  if (!options.blocks) {
    const double bits = -8.0 * static_cast<double>(keys) / std::log(1 - std::pow(options.fpr.value_or(0.01), 1.0 / 8));
    const double wanted = std::ceil(bits / kBlockBits);
    blocks = wanted >= static_cast<double>(kMaxBlocks) ? kMaxBlocks : std::bit_ceil(static_cast<std::uint64_t>(wanted));
  }
  if (blocks < 1 || blocks > 0x7fffffff / kSplitBlockBytes) {
    return Status::invalid_argument(
        fmt::format("{} blocks; a Parquet filter has 1 to {}", blocks, 0x7fffffff / kSplitBlockBytes));
  }
  return BloomShape{.bits = blocks * kBlockBits, .hashes = kSplitWords, .block_bits = kBlockBits};
}

constexpr ClassicLayout kBare = {kScheme, kBlockBits, read_no_header, write_no_header, size};
constexpr ClassicLayout kWithHeader = {kScheme, kBlockBits, read_header, write_header, size};

Fit fit_bare(const Input& input) { return open_as<kBare>(input).ok() ? Fit::kPossible : Fit::kNo; }

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
  return read_thrift_struct(reader, [&](const ThriftField& field) -> Status {
    if (field.id == 1 && field.type == ThriftType::kI32) {
      TAMIS_TRY(column.physical_type, read_thrift_integer(reader));
    } else if (field.id == 3 && field.type == ThriftType::kList) {
      TAMIS_TRY(column.column, read_path(reader));
    } else if (field.id == 14 && field.type == ThriftType::kI64) {
      TAMIS_TRY(column.offset, read_thrift_integer(reader));
    } else {
      return skip_thrift_value(reader, field.type);
    }
    return {};
  });
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
  return read_thrift_struct(reader, [&](const ThriftField& field) {
    const bool wanted = field.id == id && field.type == type;
    return wanted ? read_field() : skip_thrift_value(reader, field.type);
  });
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

Result<ProbePtr> open_parquet(const Input& input) {
  TAMIS_TRY(const std::vector<ColumnFilter> filters, find_filters(input));
  TAMIS_TRY(const ColumnFilter chosen, choose_filter(filters, input));
  if (chosen.physical_type == kBooleanType) {
    return Status::not_supported(fmt::format("{}: filters of booleans are not defined", input.name));
  }
  ByteReader reader(input.bytes, input.name);
  if (*chosen.offset < 0) return reader.corruption("a negative offset of a filter");
  TAMIS_TRY_STATUS(reader.skip(static_cast<std::uint64_t>(*chosen.offset), "the data before the filter"));
  TAMIS_TRY(const BloomShape shape, read_header(reader, {}));
  TAMIS_TRY(const Bytes bitset, reader.read(shape.bits / 8, "the bitset"));
  return ProbePtr(std::make_unique<BloomProbe>(kScheme, shape, bitset));
}

Fit fit_parquet(const Input& input) { return as_text(input.bytes).ends_with("PAR1") ? Fit::kStrong : Fit::kNo; }

constexpr std::string_view kSystem = "Apache Parquet";
constexpr std::string_view kFamily = "sbbf";
constexpr std::string_view kParameters = "blocks; or expected keys, rate (0.01)";
constexpr ParameterSet kTakes = kTakesBlocks | kTakesExpectedKeys | kTakesRate;

}  // namespace

constinit const Format kSbbfFormat = classic_format<kBare>({.name = "sbbf",
                                                            .system = kSystem,
                                                            .summary = "split-block filter: the bitset alone",
                                                            .build_parameters = kParameters,
                                                            .self_describing = false,
                                                            .writable = true},
                                                           kTakes, kFamily, fit_bare);

constinit const Format kSbbfThriftFormat =
    classic_format<kWithHeader>({.name = "sbbf-thrift",
                                 .system = kSystem,
                                 .summary = "split-block filter: Thrift header, bitset",
                                 .build_parameters = kParameters,
                                 .writable = true},
                                kTakes, kFamily);

constinit const Format kParquetFormat = {
    .info = {.name = "parquet", .system = kSystem, .summary = "the filter of a column, inside a Parquet file"},
    .takes = 0,
    .open = open_parquet,
    .build = nullptr,
    .fit = fit_parquet,
    .family = kFamily};

}  // namespace tamis::foreign
