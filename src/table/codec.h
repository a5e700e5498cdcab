// Compression of blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tamis {

/// A compression codec. One row per codec; ids are permanent on disk.
struct Codec {
  std::uint8_t id = 0;
  std::string_view name;
  std::string_view summary;
  /// Replaces `to` with the compressed bytes. False if that saves less than an eighth: the block is then stored
  /// uncompressed, under codec 0.
  bool (*compress)(Bytes from, std::string& to) = nullptr;
  /// Fills exactly `to`; false for bytes that do not decompress to that length.
  bool (*decompress)(Bytes from, MutableBytes to) = nullptr;
};

/// none (0), lz4 (1), zstd (2).
std::span<const Codec> codecs();
/// Null if unknown.
const Codec* find_codec(std::string_view name);
const Codec* find_codec(std::uint8_t id);

}  // namespace tamis
