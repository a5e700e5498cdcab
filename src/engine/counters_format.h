// The bytes of COUNTERS. Documented with hex in docs/FORMAT.md; frozen by tests/golden/counters.
//
//     offset size
//          0    8  magic "TAMISCNT"
//          8    2  version, 1
//         10    1  file kind: 6 counters
//         11    1  zero
//         12    4  bytes of the file, 4096
//         16   16  features; none
//         32   16  store id
//         48    8  process id of the writer
//         56    8  when it was written, in milliseconds since 1970
//         64    -  fields, as a table's facts: tag, length, value; a zero byte ends them; then zeros
//       4088    8  XXH3-64 of bytes 0 … 4087
//
// All numbers little-endian. The file is one page and is overwritten in place: a reader that meets a half-written one
// sees that by the checksum (docs/decisions/0044).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "journal/journal_format.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::string_view kCountersMagic = "TAMISCNT";
inline constexpr std::uint16_t kCountersVersion = 1;
inline constexpr std::uint8_t kCountersFileKind = 6;
inline constexpr std::size_t kCountersBytes = 4096;

/// What a writer publishes.
struct PublishedCounters {
  StoreId store_id = {};
  std::uint64_t process_id = 0;
  std::uint64_t unix_milliseconds = 0;
  /// Without what the files of the store tell: of a level, only what lookups found there.
  Stats stats = {};
};

using CountersBytes = std::array<std::byte, kCountersBytes>;
/// Texts are cut to 256 bytes, and levels after the 32nd are left out. So are latencies for which the page has no room
/// left: six take about 700 bytes of at least 1,100.
CountersBytes encode_counters(const PublishedCounters& counters);
/// kCorruption for bad bytes; kNotSupported for intact ones of another version. Unknown fields are skipped, and those
/// that are missing are 0.
Result<PublishedCounters> decode_counters(Bytes bytes, std::string_view name);

}  // namespace tamis
