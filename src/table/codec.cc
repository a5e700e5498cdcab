#include "table/codec.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace tamis {
namespace {

/// The most bytes at which compression is worth the time to decompress on every read.
std::size_t most_bytes(Bytes from) { return from.size() - (from.size() + 7) / 8; }

bool store(Bytes /*from*/, std::string& /*to*/) { return false; }
bool restore(Bytes from, MutableBytes to) {
  if (from.size() != to.size()) return false;
  std::ranges::copy(from, to.begin());
  return true;
}

// LZ4's block format. Its lengths are ints, and it takes at most LZ4_MAX_INPUT_SIZE.
bool compress_lz4(Bytes from, std::string& to) {
  if (from.size() > LZ4_MAX_INPUT_SIZE) return false;
  to.resize(most_bytes(from));
  const int bytes =
      LZ4_compress_default(as_text(from).data(), to.data(), static_cast<int>(from.size()), static_cast<int>(to.size()));
  to.resize(static_cast<std::size_t>(std::max(bytes, 0)));
  return bytes > 0;
}
bool decompress_lz4(Bytes from, MutableBytes to) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (from.size() > kMost || to.size() > kMost) return false;
  const int bytes = LZ4_decompress_safe(as_text(from).data(), reinterpret_cast<char*>(to.data()),
                                        static_cast<int>(from.size()), static_cast<int>(to.size()));
  return bytes >= 0 && static_cast<std::size_t>(bytes) == to.size();
}

// Zstandard frames. Creating a context takes longer than compressing a block, so each thread keeps its own.
constexpr int kZstdLevel = 3;
struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

bool compress_zstd(Bytes from, std::string& to) {
  thread_local const std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  if (context == nullptr) return false;
  to.resize(most_bytes(from));
  const std::size_t bytes =
      ZSTD_compressCCtx(context.get(), to.data(), to.size(), from.data(), from.size(), kZstdLevel);
  if (ZSTD_isError(bytes) != 0) return false;
  to.resize(bytes);
  return true;
}
bool decompress_zstd(Bytes from, MutableBytes to) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return false;
  const std::size_t bytes = ZSTD_decompressDCtx(context.get(), to.data(), to.size(), from.data(), from.size());
  return ZSTD_isError(bytes) == 0 && bytes == to.size();
}

constexpr std::array<Codec, 3> kCodecs = {{
    {0, "none", "blocks as they are", store, restore},
    {1, "lz4", "fast; about half the size for text", compress_lz4, decompress_lz4},
    {2, "zstd", "smaller than lz4, slower to read and write", compress_zstd, decompress_zstd},
}};

}  // namespace

std::span<const Codec> codecs() { return kCodecs; }

const Codec* find_codec(std::string_view name) {
  const auto* found = std::ranges::find(kCodecs, name, &Codec::name);
  return found == kCodecs.end() ? nullptr : found;
}

const Codec* find_codec(std::uint8_t id) {
  const auto* found = std::ranges::find(kCodecs, id, &Codec::id);
  return found == kCodecs.end() ? nullptr : found;
}

}  // namespace tamis
