// index_format: any bytes are an index or an error; an index that opens is ascending, maps every key to a block, and
// answers the same when rebuilt from its separators. The checksum is repaired first.
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
  const std::string section = builder.finish(kSeed);
  const auto again = Index::open(as_bytes(section), kSeed, "again", 0);
  TAMIS_CHECK(again.ok() && (*again)->blocks() == index.blocks());
  TAMIS_CHECK((*again)->memory_bytes() <= Index::memory_bytes_for(section.size()));
  last.clear();
  for (std::uint32_t i = 0; i < index.blocks(); ++i) {
    std::string separator = index.separator(i);
    TAMIS_CHECK((*again)->position(i) == index.position(i));
    TAMIS_CHECK((*again)->separator(i) <= separator);
    TAMIS_CHECK((*again)->continues(i) == (i > 0 && separator == last));
    last = std::move(separator);
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  std::string section(reinterpret_cast<const char*>(data), size);
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
