// Reads the parts of a table's file that are not blocks.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/aligned_bytes.h"
#include "cache/block_buffer.h"
#include "entry/range_tombstones.h"
#include "filter/filter_image.h"
#include "filter/held_slices.h"
#include "filter/range_filter_format.h"
#include "io/file_system.h"
#include "table/index_format.h"
#include "table/table_format.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

// `name` is the file's, for messages. Results were checked; problems are kCorruption with name and offset.

/// Header, footer and properties of a file that may be any table, or none.
Result<TableProperties> read_properties(const ReadableFile& file, std::string_view name);

/// The whole index. Also checks that its blocks match the properties.
Result<std::unique_ptr<const Index>> read_index(const ReadableFile& file, const TableProperties& properties,
                                                std::string_view name);

/// A part of an index, or its top.
struct ReadIndexPart {
  BlockBuffer bytes;
  std::unique_ptr<const Index> index;
};
/// `at` is relative to the index.
Result<ReadIndexPart> read_index_part(const ReadableFile& file, const TableProperties& properties, BlockPosition at,
                                      std::string_view name);

/// Also checks them against the facts. None if there is no such section.
Result<std::vector<RangeTombstone>> read_range_deletes(const ReadableFile& file, const TableProperties& properties,
                                                       std::string_view name);

/// All of it.
Result<Filter> read_filter(const ReadableFile& file, const TableProperties& properties, std::string_view name);
Result<Filter> read_prefix_filter(const ReadableFile& file, const TableProperties& properties, std::string_view name);
Result<RangeFilter> read_range_filter(const ReadableFile& file, const TableProperties& properties,
                                      std::string_view name);

// A filter in slices, as the facts say.

/// `image` gets its bytes.
Result<HeldSlices> read_first_slice(const ReadableFile& file, const TableProperties& properties, FilterImage& image,
                                    std::string_view name);
/// Adds slices until it holds so many columns; `memory` gets their bytes.
Status read_next_slices(const ReadableFile& file, const TableProperties& properties, std::uint64_t columns,
                        HeldSlices& held, std::vector<AlignedBytes>& memory, std::string_view name);

}  // namespace tamis
