#include "table/table_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/aligned_bytes.h"
#include "base/try.h"
#include "filter/open_filter.h"
#include "table/block_trailer_format.h"
#include "table/range_tombstones_format.h"

namespace tamis {
namespace {

constexpr std::uint64_t kTailBytes = 4096;  // Most tables' properties and footer in one read.

Status damage(std::string_view name, std::uint64_t offset, std::string_view why) {
  return Status::corruption(fmt::format("{}: at offset {}: {}", name, offset, why));
}

Result<AlignedBytes> read_bytes(const ReadableFile& file, std::uint64_t offset, std::uint64_t bytes,
                                std::string_view name) {
  AlignedBytes buffer = AlignedBytes::unset(static_cast<std::size_t>(bytes));
  if (buffer.size() != bytes) return Status::out_of_space(fmt::format("{}: no memory for {} bytes", name, bytes));
  TAMIS_TRY(const std::size_t there, file.read_at(offset, buffer.span()));
  if (there != bytes) return damage(name, offset, fmt::format("the file ends after {} of {} bytes", there, bytes));
  return buffer;
}

std::string filter_name(const Section& section, std::string_view name) {
  return fmt::format("{}: filter at {}", name, section.offset);
}

/// Its first `checked_bytes` have the section's checksum.
Result<AlignedBytes> read_checked(const ReadableFile& file, const Section& section, std::uint64_t checked_bytes,
                                  std::string_view name) {
  TAMIS_TRY(AlignedBytes bytes, read_bytes(file, section.offset, section.bytes, name));
  const std::uint64_t computed = checksum64(std::as_const(bytes).span().first(checked_bytes));
  if (computed != section.checksum) {
    return damage(name, section.offset,
                  fmt::format("the filter's checksum is {:016x}, its bytes have {:016x}", section.checksum, computed));
  }
  return bytes;
}

/// The same for a filter in a container.
Result<FilterImage> read_image(const ReadableFile& file, const Section& section, std::uint64_t checked_bytes,
                               const TableProperties& properties, const PrefixRule& rule, std::string_view name) {
  TAMIS_TRY(AlignedBytes bytes, read_checked(file, section, checked_bytes, name));
  TAMIS_TRY(FilterImage image, FilterImage::decode(std::move(bytes), filter_name(section, name)));
  if (image.header.seed != FilterSeed{.key = properties.identity.hash_key} || image.header.prefix_rule != rule) {
    return damage(name, section.offset, "the filter is of another hash or prefix rule than the table");
  }
  return image;
}

Result<TableHeader> read_header(const ReadableFile& file, std::string_view name) {
  TAMIS_TRY(const AlignedBytes header, read_bytes(file, 0, kTableHeaderBytes, name));
  return decode_table_header(header.span(), name);
}

}  // namespace

Result<TableProperties> read_properties(const ReadableFile& file, std::string_view name) {
  TAMIS_TRY(const std::uint64_t file_bytes, file.size());
  if (file_bytes < kTableHeaderBytes + kTableFooterBytes) {
    return damage(name, 0, fmt::format("{} bytes are too few for a table", file_bytes));
  }
  TAMIS_TRY(const TableHeader header, read_header(file, name));
  const std::uint64_t tail_at = file_bytes - std::min(file_bytes, kTailBytes);
  TAMIS_TRY(const AlignedBytes tail, read_bytes(file, tail_at, file_bytes - tail_at, name));
  const Bytes footer = tail.span().last(kTableFooterBytes);
  TAMIS_TRY(const Section section, decode_footer(footer, file_bytes, name));
  AlignedBytes longer;
  Bytes bytes;
  if (section.offset >= tail_at) {
    bytes = tail.span().subspan(static_cast<std::size_t>(section.offset - tail_at),
                                static_cast<std::size_t>(section.bytes));
  } else {
    TAMIS_TRY(longer, read_bytes(file, section.offset, section.bytes, name));
    bytes = longer.span();
  }
  TAMIS_TRY_STATUS(check_properties(bytes, footer, name));
  TAMIS_TRY(TableProperties properties, decode_properties(bytes, section.offset, name));
  if (properties.facts.file_bytes != file_bytes) {
    return damage(name, section.offset,
                  fmt::format("the file has {} bytes, {} when written", file_bytes, properties.facts.file_bytes));
  }
  if (header != TableHeader{properties.identity.store_id, properties.facts.number, properties.facts.features}) {
    return damage(name, 0, "header and properties are of different tables");
  }
  return properties;
}

Result<std::unique_ptr<const Index>> read_index(const ReadableFile& file, const TableProperties& properties,
                                                std::string_view name) {
  const Section& section = properties.index;
  TAMIS_TRY(const AlignedBytes bytes, read_bytes(file, section.offset, section.bytes, name));
  const std::uint64_t seed = block_checksum_seed(properties.facts.number, section.offset);
  TAMIS_TRY(std::unique_ptr<const Index> index,
            Index::open_whole(bytes.span(), properties.index_top_bytes, seed, name, section.offset));
  if (index->blocks() != properties.facts.blocks) {
    return damage(name, section.offset,
                  fmt::format("an index of {} blocks, {} expected", index->blocks(), properties.facts.blocks));
  }
  const BlockPosition last = index->position(index->blocks() - 1);
  if (index->position(0).offset != kTableHeaderBytes || last.offset + last.bytes != properties.filter.offset) {
    return damage(name, section.offset, "the index speaks of other bytes than the file's blocks");
  }
  return index;
}

Result<ReadIndexPart> read_index_part(const ReadableFile& file, const TableProperties& properties, BlockPosition at,
                                      std::string_view name) {
  ReadIndexPart part;
  part.bytes = BlockBuffer::unset(at.bytes);
  if (part.bytes.size() != at.bytes) {
    return Status::out_of_space(fmt::format("{}: no memory for {} bytes", name, at.bytes));
  }
  const std::uint64_t offset = properties.index.offset + at.offset;
  TAMIS_TRY(const std::size_t there, file.read_at(offset, part.bytes.span()));
  if (there != at.bytes) {
    return damage(name, offset, fmt::format("the file ends after {} of {} bytes", there, at.bytes));
  }
  const std::uint64_t seed = block_checksum_seed(properties.facts.number, offset);
  TAMIS_TRY(part.index, Index::open(part.bytes.span(), seed, name, offset));
  return part;
}

Result<std::vector<RangeTombstone>> read_range_deletes(const ReadableFile& file, const TableProperties& properties,
                                                       std::string_view name) {
  const Section& section = properties.range_deletes;
  if (section.bytes == 0) return std::vector<RangeTombstone>();
  TAMIS_TRY(const AlignedBytes bytes, read_bytes(file, section.offset, section.bytes, name));
  const std::uint64_t computed = checksum64(bytes.span());
  if (computed != section.checksum) {
    return damage(name, section.offset,
                  fmt::format("the checksum of the range deletes is {:016x}, their bytes have {:016x}",
                              section.checksum, computed));
  }
  TAMIS_TRY(std::vector<RangeTombstone> fragments, decode_range_tombstones(bytes.span(), name, section.offset));
  const TableFacts& facts = properties.facts;
  const KeyRange extent{fragments.front().range.from, fragments.back().range.to};
  if (fragments.size() != facts.range_deletes || extent != facts.range_extent) {
    return damage(name, section.offset, "other range deletes than the facts say");
  }
  return fragments;
}

Result<Filter> read_filter(const ReadableFile& file, const TableProperties& properties, std::string_view name) {
  const std::uint64_t first_bytes = properties.facts.first_filter_bytes();
  TAMIS_TRY(FilterImage image, read_image(file, properties.filter, first_bytes, properties, {}, name));
  return open_filter(std::move(image), filter_name(properties.filter, name));
}

Result<Filter> read_prefix_filter(const ReadableFile& file, const TableProperties& properties, std::string_view name) {
  const Section& section = properties.prefix_filter;
  TAMIS_TRY(FilterImage image, read_image(file, section, section.bytes, properties, properties.prefix_rule, name));
  return open_filter(std::move(image), filter_name(section, name));
}

Result<RangeFilter> read_range_filter(const ReadableFile& file, const TableProperties& properties,
                                      std::string_view name) {
  const Section& section = properties.range_filter;
  TAMIS_TRY(AlignedBytes bytes, read_checked(file, section, section.bytes, name));
  return RangeFilter::open(std::move(bytes), properties.identity.hash_key, filter_name(section, name));
}

Result<HeldSlices> read_first_slice(const ReadableFile& file, const TableProperties& properties, FilterImage& image,
                                    std::string_view name) {
  const Section first = {properties.filter.offset, properties.facts.first_filter_bytes(), properties.filter.checksum};
  TAMIS_TRY(image, read_image(file, first, first.bytes, properties, {}, name));
  const std::string where = filter_name(first, name);
  if (image.header.layout != FilterLayout::kSlices || image.body().size() != image.header.first_slice_bytes) {
    return damage(name, first.offset, "the filter has other slices than the facts say");
  }
  TAMIS_TRY(HeldSlices held, HeldSlices::open(image.header, image.body(), where));
  if (held.all_columns() != properties.facts.filter_slices->columns) {
    return damage(name, first.offset, "the filter has other columns than the facts say");
  }
  return held;
}

Status read_next_slices(const ReadableFile& file, const TableProperties& properties, std::uint64_t columns,
                        HeldSlices& held, std::vector<AlignedBytes>& memory, std::string_view name) {
  const std::string where = filter_name(properties.filter, name);
  while (held.columns() < columns) {
    const HeldSlices::Place next = held.next();
    const std::uint64_t end = kFilterHeaderBytes + next.offset + next.bytes;
    if (next.bytes == 0 || end > properties.filter.bytes) {
      return damage(name, properties.filter.offset, "the filter has fewer slices than the facts say");
    }
    const std::uint64_t offset = properties.filter.offset + kFilterHeaderBytes + next.offset;
    TAMIS_TRY(AlignedBytes slice, read_bytes(file, offset, next.bytes, name));
    memory.push_back(std::move(slice));
    TAMIS_TRY_STATUS(held.add(std::as_const(memory.back()).span(), where));
  }
  return {};
}

}  // namespace tamis
