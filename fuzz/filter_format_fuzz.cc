// filter_format: any bytes are a filter or kCorruption; a filter that opens stays inside its bytes when probed,
// described and changed. The checksum is repaired first, so that mutations get past it to the checks of the kinds.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "filter/filter_format.h"
#include "filter/sliced_layout.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

/// The lengths and checksums of a filter in slices. Some slices at the end may be missing.
void repair_slices(std::vector<std::byte>& bytes) {
  const MutableBytes body = MutableBytes(bytes).subspan(kFilterHeaderBytes);
  FilterHeader header = {.hashes = load_le<std::uint32_t>(bytes.data() + 68)};
  for (std::size_t i = 0; i < 4; ++i) header.numbers[i] = load_le<std::uint64_t>(bytes.data() + 72 + 8 * i);
  header.all_slices_bytes = std::max<std::uint64_t>(load_le<std::uint64_t>(bytes.data() + 40), body.size());
  const RibbonShape ribbon = ribbon_shape_of(header);
  if (is_sane(ribbon)) header.first_slice_bytes = SlicedShape{.ribbon = ribbon}.slice_bytes(0);
  header.first_slice_bytes = std::min<std::uint64_t>(header.first_slice_bytes, body.size());
  store_le(bytes.data() + 40, header.all_slices_bytes);
  store_le(bytes.data() + 112, header.first_slice_bytes);
  const Bytes first = body.first(header.first_slice_bytes);
  store_le(bytes.data() + 120, checksum64(Bytes(bytes).first(120), first));
  const std::optional<SlicedShape> shape = SlicedShape::of(header);
  for (std::size_t i = 1; shape && i < shape->slices() && shape->slice_begin(i + 1) <= body.size(); ++i) {
    write_slice_checksum(body.subspan(shape->slice_begin(i), shape->slice_bytes(i)), checksum64(first), i);
  }
}

void repair(std::vector<std::byte>& bytes) {
  if (bytes.size() < kFilterHeaderBytes) return;
  std::ranges::copy(as_bytes(kFilterMagic), bytes.begin());
  store_le(bytes.data() + 8, kFilterVersion);
  store_le(bytes.data() + 12, static_cast<std::uint32_t>(kFilterHeaderBytes));
  if (bytes[11] == static_cast<std::byte>(FilterLayout::kSlices)) return repair_slices(bytes);
  store_le(bytes.data() + 40, static_cast<std::uint64_t>(bytes.size() - kFilterHeaderBytes));
  store_le(bytes.data() + 120, checksum64(Bytes(bytes).first(120), Bytes(bytes).subspan(kFilterHeaderBytes)));
}

void probe(const Filter& filter) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 70; ++i) hashes.push_back(remix(i));
  hashes.push_back(0);
  hashes.push_back(~std::uint64_t{0});
  std::vector<std::uint64_t> answers(2);
  filter.may_contain_many(hashes, answers.data());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    filter.prefetch_hash(hashes[i]);
    TAMIS_CHECK(filter.may_contain_hash(hashes[i]) == (((answers[i / 64] >> (i % 64)) & 1) != 0));
  }
  (void)filter.may_contain_prefix("a/b");
  TAMIS_CHECK(!filter.info().kind.empty());
}

void change(Bytes bytes) {
  Result<MutableFilter> filter = MutableFilter::from_bytes(bytes);
  if (!filter.ok()) return;
  for (std::uint64_t i = 0; i < 20; ++i) {
    if (filter->add_hash(remix(i)).ok()) TAMIS_CHECK(filter->may_contain_hash(remix(i)));
  }
  (void)filter->remove_hash(remix(3)).ok();
  const Result<MutableFilter> other = MutableFilter::from_bytes(bytes);
  TAMIS_CHECK(other.ok());
  (void)filter->merge(*other).ok();
  probe(filter->freeze());
  filter->clear();
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(first, first + size);
  (void)Filter::from_bytes(bytes).ok();
  repair(bytes);
  const Result<Filter> filter = Filter::from_bytes(bytes);
  if (filter.ok()) probe(*filter);
  if (size <= 4096) change(bytes);
  return 0;
}
