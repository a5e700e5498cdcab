#include "table/block_trailer_format.h"

#include <fmt/core.h>

#include "base/check.h"

namespace tamis {
namespace {

constexpr std::size_t kLengthAt = 1;
constexpr std::size_t kChecksumAt = 5;

Status damage(std::string_view name, std::uint64_t offset, std::string_view why) {
  return Status::corruption(fmt::format("{}: block at offset {}: {}", name, offset, why));
}

}  // namespace

void append_block_trailer(std::string& to, std::size_t begin, const BlockTrailer& trailer, std::uint64_t seed) {
  TAMIS_CHECK(to.size() - begin <= kMaxBlockBytes && trailer.block_bytes <= kMaxBlockBytes);
  append_le(to, trailer.codec);
  append_le(to, trailer.block_bytes);
  append_le(to, seeded_checksum64(as_bytes(std::string_view(to).substr(begin)), seed));
}

bool has_block_checksum(Bytes stored, std::uint64_t seed) {
  if (stored.size() < kBlockTrailerBytes) return false;
  const Bytes covered = stored.first(stored.size() - 8);
  return load_le<std::uint64_t>(covered.data() + covered.size()) == seeded_checksum64(covered, seed);
}

Result<BlockTrailer> verify_block_trailer(Bytes stored, std::uint64_t seed, std::string_view name,
                                          std::uint64_t offset) {
  if (stored.size() < kBlockTrailerBytes) {
    return damage(name, offset, fmt::format("{} bytes are too few for a block and its trailer", stored.size()));
  }
  const Bytes trailer_bytes = stored.last(kBlockTrailerBytes);
  const auto expected = load_le<std::uint64_t>(trailer_bytes.data() + kChecksumAt);
  const std::uint64_t computed = seeded_checksum64(stored.first(stored.size() - 8), seed);
  if (expected != computed) {
    return damage(name, offset, fmt::format("its checksum is {:016x}, its bytes have {:016x}", expected, computed));
  }
  BlockTrailer trailer;
  trailer.codec = load_le<std::uint8_t>(trailer_bytes.data());
  trailer.block_bytes = load_le<std::uint32_t>(trailer_bytes.data() + kLengthAt);
  if (trailer.block_bytes > kMaxBlockBytes) {
    return damage(name, offset, fmt::format("it is {} bytes long, {} allowed", trailer.block_bytes, kMaxBlockBytes));
  }
  return trailer;
}

}  // namespace tamis
