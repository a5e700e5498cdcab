// index_format, index_build_format: any bytes are an index or an error; an index that opens is ascending, maps every
// key to a block, and answers the same when rebuilt from its separators. The same holds for an index in parts, and its
// parts lead to the same blocks. Checksums are repaired first.
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "table/index_format.h"

namespace tamis {
namespace {

constexpr std::uint64_t kSeed = 5;

void look_at(const Index& index) {
  std::string last;
  std::uint64_t end = index.position(0).offset;
  TAMIS_CHECK(index.blocks() > 0 && !index.continues(0));
  for (std::uint32_t i = 0; i < index.blocks(); ++i) {
    const BlockPosition position = index.position(i);
    TAMIS_CHECK(position.offset == end && position.bytes > 0);
    end += position.bytes;
    std::string separator = index.separator(i);
    TAMIS_CHECK(i == 0 || last < separator || (last == separator && index.continues(i)));
    const std::uint32_t located = index.locate(separator);
    TAMIS_CHECK(index.continues(i) ? located < i || i == 0 : located == i || index.separator(located) == separator);
    TAMIS_CHECK(index.locate(separator + '\xff') < index.blocks());
    if (!separator.empty()) TAMIS_CHECK(index.locate(separator.substr(0, separator.size() - 1)) <= i);
    last = std::move(separator);
  }
}

/// A builder given the separators as keys makes an index that maps each of them to the same block.
void build_again(const Index& index) {
  IndexBuilder builder;
  std::string last;
  for (std::uint32_t i = 0; i < index.blocks(); ++i) {
    std::string separator = index.separator(i);
    builder.add(last, separator, "", index.position(i));
    last = std::move(separator);
  }
  const IndexSection section = builder.finish(kSeed);
  const auto again = Index::open_whole(as_bytes(section.bytes), section.top_bytes, kSeed, "again", 0);
  TAMIS_CHECK(again.ok() && (*again)->blocks() == index.blocks());
  TAMIS_CHECK((*again)->memory_bytes() <= Index::memory_bytes_for(section.bytes.size()));
  last.clear();
  for (std::uint32_t i = 0; i < index.blocks(); ++i) {
    std::string separator = index.separator(i);
    TAMIS_CHECK((*again)->position(i) == index.position(i));
    TAMIS_CHECK((*again)->separator(i) <= separator);
    TAMIS_CHECK((*again)->continues(i) == (i > 0 && separator == last));
    last = std::move(separator);
  }
}

void repair_checksum(std::string& section, std::uint64_t begin, std::uint64_t bytes) {
  if (bytes < kIndexChecksumBytes) return;
  const Bytes before = as_bytes(section).subspan(begin, bytes - kIndexChecksumBytes);
  store_le(section.data() + begin + before.size(), seeded_checksum64(before, kSeed + begin));
}

/// The last two bytes of the input say how many of those before are the top.
void look_at_parts(std::string section) {
  if (section.size() < 2 + kIndexHeaderBytes) return;
  const std::uint32_t top_bytes = load_le<std::uint16_t>(section.data() + section.size() - 2);
  section.resize(section.size() - 2);
  if (top_bytes == 0 || top_bytes >= section.size()) return;
  const std::uint64_t top_at = section.size() - top_bytes;
  repair_checksum(section, top_at, top_bytes);
  const auto top = Index::open(as_bytes(section).subspan(top_at), kSeed + top_at, "top", 0);
  if (!top.ok()) return;
  for (std::uint32_t i = 0; i < (*top)->blocks(); ++i) {
    const BlockPosition part = (*top)->position(i);
    if (part.offset < top_at && part.bytes <= top_at - part.offset) repair_checksum(section, part.offset, part.bytes);
  }
  const auto whole = Index::open_whole(as_bytes(section), top_bytes, kSeed, "parts", 0);
  if (!whole.ok()) return;
  look_at(**whole);
  for (std::uint32_t i = 0; i < (*whole)->blocks(); ++i) {
    const std::string key = (*whole)->separator(i);
    const std::uint32_t number = (*top)->locate(key);
    const BlockPosition at = (*top)->position(number);
    const auto part = Index::open_again(as_bytes(section).subspan(at.offset, at.bytes), "part", 0);
    TAMIS_CHECK(part.ok());
    TAMIS_CHECK(number * kIndexGroupBlocks + (*part)->locate(key) == (*whole)->locate(key));
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  std::string section(reinterpret_cast<const char*>(data), size);
  look_at_parts(section);
  append_le(section, seeded_checksum64(as_bytes(section), kSeed));
  const Result<std::unique_ptr<const Index>> index = Index::open(as_bytes(section), kSeed, "input", 0);
  if (!index.ok()) {
    TAMIS_CHECK(index.status().code() == StatusCode::kCorruption || index.status().code() == StatusCode::kNotSupported);
    return 0;
  }
  look_at(**index);
  build_again(**index);
  TAMIS_CHECK((*index)->memory_bytes() <= Index::memory_bytes_for(section.size()));
  return 0;
}
