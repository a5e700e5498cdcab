// The list of all formats. A new format is its *_format.cc and one line here.
#pragma once

#include <span>
#include <string_view>

#include "filter/formats/format.h"

// clang-format off
#define TAMIS_FOREIGN_FORMATS(ROW) \
  ROW(kCassandraNewFormat)         \
  ROW(kCassandraOldFormat)         \
  ROW(kCassandraOldH1H2Format)     \
  ROW(kRocksDbTableFormat)         \
  ROW(kRocksDbRawFormat)           \
  ROW(kLevelDbTableFormat)         \
  ROW(kLevelDbRawFormat)           \
  ROW(kBadgerFormat)               \
  ROW(kSparkFormat)                \
  ROW(kGuavaFormat)                \
  ROW(kParquetFormat)              \
  ROW(kSbbfThriftFormat)           \
  ROW(kSbbfFormat)                 \
  ROW(kGoBloomFormat)              \
  ROW(kGoBloomJsonFormat)          \
  ROW(kGoArticleFormat)            \
  ROW(kGoArticleLeFormat)          \
  ROW(kGoArticleJsonFormat)        \
  ROW(kLabFormat)                  \
  ROW(kLessonFormat)               \
  ROW(kPyChapterFormat)
// clang-format on

namespace tamis::foreign {

#define TAMIS_DECLARE_FORMAT(row) extern const Format row;
TAMIS_FOREIGN_FORMATS(TAMIS_DECLARE_FORMAT)
#undef TAMIS_DECLARE_FORMAT

std::span<const Format* const> registered_formats();

/// kInvalidArgument names the known formats.
Result<const Format*> find_format(std::string_view name);

}  // namespace tamis::foreign
