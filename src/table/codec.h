// Compression of blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tamis {

/// A way to make blocks smaller. One row per codec; ids are on disk for ever.
struct Codec {
  std::uint8_t id = 0;
  std::string_view name;
  std::string_view summary;
  /// Replaces `to` by the compressed bytes. False when that would save less than an eighth: the block is then stored
  /// as it is, under codec 0.
  bool (*compress)(Bytes from, std::string& to) = nullptr;
  /// Fills exactly `to`; false for bytes that do not decompress to that length.
  bool (*decompress)(Bytes from, MutableBytes to) = nullptr;
};

/// none (0), lz4 (1), zstd (2).
std::span<const Codec> codecs();
/// Null when there is none.
const Codec* find_codec(std::string_view name);
const Codec* find_codec(std::uint8_t id);

}  // namespace tamis
