// Bytes in LevelDB's type and in ours.
#pragma once

#include <leveldb/slice.h>

#include <string_view>

namespace tamis::dropin {

inline std::string_view view_of(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }
inline leveldb::Slice slice_of(std::string_view view) { return {view.data(), view.size()}; }

}  // namespace tamis::dropin
