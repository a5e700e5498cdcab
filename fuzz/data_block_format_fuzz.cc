// data_block_format, data_block_build_format: any bytes are a usable block or an error; what the builder makes of any
// entries passes the check and returns them.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/aligned_bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "table/block_file.h"
#include "table/data_block_format.h"

namespace tamis {
namespace {

AlignedBytes frame_of(std::string_view block) {
  return AlignedBytes::copy_of(as_bytes(std::string(block) + std::string(kBlockSlackBytes, '\0')));
}

/// Calls everything on a block that passed its check. Tags are not checked, so wrong ones may only cause absence.
void use(const DataBlock& block) {
  std::string key;
  std::string before;
  Entry entry;
  for (std::size_t i = 0; i < block.size(); ++i) {
    block.load(i, key, entry);
    TAMIS_CHECK(entry.key.size() <= kMaxKeyBytes && entry.sequence < kMaxSequence && before <= key);
    TAMIS_CHECK(block.lower_bound(entry.position()) == i);
    const FoundEntry expected{entry.kind, entry.sequence, entry.value};
    TAMIS_CHECK(block.find({key, 0, entry.sequence}, false) == expected);
    const std::optional<FoundEntry> by_tag = block.find({key, i, entry.sequence}, true);
    TAMIS_CHECK(!by_tag.has_value() || *by_tag == expected);
    before = key;
  }
  TAMIS_CHECK(block.ends_with_key(key));
  TAMIS_CHECK(block.lower_bound(EntryPosition{key + '\0'}) == block.size());
  TAMIS_CHECK(block.lower_bound(EntryPosition{""}) == 0);
}

void use_if_sound(std::string_view bytes) {
  const AlignedBytes frame = frame_of(bytes);
  const StatusCode code = DataBlock::check(block_of(frame.span()), "fuzz", 0).code();
  TAMIS_CHECK(code == StatusCode::kOk || code == StatusCode::kCorruption || code == StatusCode::kNotSupported);
  if (code == StatusCode::kOk) use(DataBlock(block_of(frame.span())));
}

/// Takes entries from the input: three bytes of lengths and sequence, then a key after a shared prefix.
std::map<std::pair<std::string, std::uint64_t>, std::string> entries_of(std::string_view input) {
  std::map<std::pair<std::string, std::uint64_t>, std::string> entries;
  while (input.size() >= 3) {
    const auto lengths = static_cast<unsigned char>(input[0]);
    const std::uint64_t sequence = static_cast<unsigned char>(input[1]);
    const std::uint64_t shift = static_cast<unsigned char>(input[2]) % 57;
    input.remove_prefix(3);
    const std::size_t shared = lengths & 3U;
    std::string key(lengths >= 0xfc ? kMaxNarrowKeyBytes - 1 + shared : shared * 40, 'p');
    key += input.substr(0, lengths >> 5);
    input.remove_prefix(std::min<std::size_t>(input.size(), lengths >> 5));
    entries[{key, ~(sequence << shift)}] = std::string(lengths & 31U, 'v');
  }
  return entries;
}

void build_and_use(std::string_view input) {
  const auto entries = entries_of(input);
  DataBlockBuilder builder(512);
  const std::size_t padding = input.size() % 50;
  std::vector<std::string> blocks;
  const auto end_block = [&] {
    const std::string_view block = builder.finish();
    blocks.emplace_back(block.size() < 512 ? builder.pad(padding) : block);
  };
  for (const auto& [position, value] : entries) {
    const Entry entry{position.first, value, Sequence{~position.second}, EntryKind::kPut};
    if (!builder.fits(entry)) end_block();
    builder.add(entry, checksum64(as_bytes(entry.key)));
  }
  if (!builder.empty()) end_block();
  auto expected = entries.begin();
  for (const std::string& bytes : blocks) {
    const AlignedBytes frame = frame_of(bytes);
    TAMIS_CHECK(DataBlock::check(block_of(frame.span()), "fuzz", 0).ok());
    const DataBlock block(block_of(frame.span()));
    TAMIS_CHECK(block.size() == 1 || bytes.size() + kBlockTrailerBytes <= 512 + padding);
    use(block);
    std::string key;
    Entry entry;
    for (std::size_t i = 0; i < block.size(); ++i, ++expected) {
      block.load(i, key, entry);
      TAMIS_CHECK(key == expected->first.first && entry.value == expected->second);
      TAMIS_CHECK(number_of(entry.sequence) == ~expected->first.second);
      TAMIS_CHECK(block.find({key, checksum64(as_bytes(key)), entry.sequence}, true).has_value());
    }
  }
  TAMIS_CHECK(expected == entries.end());
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  use_if_sound(input);
  build_and_use(input);
  return 0;
}
