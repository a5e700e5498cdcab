// A value as bytes: a head, then the containers of its filters, one behind the other. SCANDUMP gives these, RDB and AOF
// files and DUMP have them, and a copy is made of them.
//
// Head, little-endian:
//     8 "tamisbf" (Bloom) or "tamiscf" (cuckoo), version (1)       8 items            8 removed items
//     8 capacity     8 error rate (double)     4 expansion         2 bucket size      2 max iterations
//     8 n, the number of filters               n · 8 bytes of each filter
//     8 checksum: FNV-1a of all before
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "value.h"

namespace tamis_redis {

/// A chunk of SCANDUMP, and a piece of other files, has at most this.
inline constexpr std::size_t kMostChunkBytes = std::size_t{16} << 20;

/// Why bytes are refused.
struct Refusal {
  std::string reason;
  bool is_newer = false;  // They are of a version that this module does not know.
};

std::string encode_head(Value& value);

/// An incomplete value that awaits the filters which the head announces. Null for bytes that are no such head.
std::unique_ptr<Value> decode_head(std::string_view head, Sort sort, Refusal& refusal);

/// The next bytes behind the head, from this position on: at most a chunk, of one filter. Empty behind the last, and
/// for an incomplete value behind what has arrived. Valid until the next change.
std::string_view body_at(Value& value, std::uint64_t position);

/// How many bytes behind the head there are.
std::uint64_t body_bytes(Value& value);

/// Adds the next bytes to an incomplete value. False, changing nothing, if there are too many or they complete a
/// damaged filter.
bool append_body(Value& value, std::string_view bytes, Refusal& refusal);

}  // namespace tamis_redis
