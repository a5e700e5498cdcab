// block_trailer_format and its codecs: any stored bytes are a block or an error. The checksum is repaired, so that
// mutations reach lengths and codecs.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "table/block_file.h"

namespace tamis {
namespace {

constexpr std::uint64_t kTable = 12;
constexpr std::uint64_t kOffset = 4096;
constexpr std::uint32_t kLongest = 1 << 20;  // Larger ones would only fill memory with zeros.

Result<BlockBuffer> open(const std::string& bytes) { return open_block(as_bytes(bytes), kTable, kOffset, "fuzz"); }

void repair_and_open(std::string_view input) {
  if (input.size() < kBlockTrailerBytes) return;
  const std::string_view trailer = input.substr(input.size() - kBlockTrailerBytes);
  std::string bytes(input.substr(0, input.size() - kBlockTrailerBytes));
  const BlockTrailer meant{static_cast<std::uint8_t>(trailer[0]),
                           load_le<std::uint32_t>(trailer.data() + 1) % kLongest};
  append_block_trailer(bytes, 0, meant, block_checksum_seed(kTable, kOffset));
  const Result<BlockBuffer> frame = open(bytes);
  if (!frame.ok()) return;
  TAMIS_CHECK(block_of(frame->span()).size() == meant.block_bytes);
  for (const std::byte slack : frame->span().last(kBlockSlackBytes)) TAMIS_CHECK(slack == std::byte{0});
}

void store_and_open(std::string_view input) {
  for (const Codec& codec : codecs()) {
    std::string bytes;
    append_block(bytes, as_bytes(input), &codec, kTable, kOffset);
    TAMIS_CHECK(bytes.size() <= input.size() + kBlockTrailerBytes);
    const Result<BlockBuffer> frame = open(bytes);
    TAMIS_CHECK(frame.ok() && as_text(block_of(frame->span())) == input);
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)open(std::string(input));
  repair_and_open(input);
  store_and_open(input);
  return 0;
}
