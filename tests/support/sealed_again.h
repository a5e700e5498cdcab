// Filters whose header was changed, with a checksum that fits the change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "filter/filter_format.h"

namespace tamis::test {

/// Corrects the checksum in the header of a filter.
inline void seal_again(std::vector<std::byte>& filter) {
  const Bytes body = Bytes(filter).subspan(kFilterHeaderBytes);
  const bool in_slices = filter[11] == static_cast<std::byte>(FilterLayout::kSlices);
  const std::uint64_t covered = in_slices ? load_le<std::uint64_t>(filter.data() + 112) : body.size();
  const Bytes covered_bytes = body.first(std::min<std::uint64_t>(covered, body.size()));
  store_le(filter.data() + 120, checksum64(Bytes(filter).first(120), covered_bytes));
}

}  // namespace tamis::test
