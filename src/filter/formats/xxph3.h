// XXPH3, the preview of XXH3 that RocksDB froze into its filters. It differs from the released XXH3 at every length.
#pragma once

#include <cstdint>
#include <string_view>

namespace tamis::foreign {

/// The 64-bit hash with seed 0, the only one RocksDB's filters use.
std::uint64_t xxph3_64(std::string_view key);

}  // namespace tamis::foreign
