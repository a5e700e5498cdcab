#include "filter/filter_image.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/try.h"

namespace tamis {

Status no_memory_for(std::uint64_t bytes) {
  return Status::not_supported(fmt::format("not enough memory for a filter of {} bytes", bytes));
}

Result<FilterImage> FilterImage::with_body(std::uint64_t body_bytes, std::uint32_t hashes, std::uint64_t number) {
  if (body_bytes > SIZE_MAX - kFilterHeaderBytes) return no_memory_for(body_bytes);
  FilterImage image;
  image.owned_ = AlignedBytes::zeroed(static_cast<std::size_t>(body_bytes) + kFilterHeaderBytes);
  if (image.owned_.size() == 0) return no_memory_for(body_bytes);
  image.header.hashes = hashes;
  image.header.numbers[0] = number;
  return image;
}

Result<FilterImage> FilterImage::decode(Bytes bytes, std::string_view name) {
  FilterImage image;
  TAMIS_TRY(image.header, decode_filter_header(bytes, name));
  image.owned_ = AlignedBytes::copy_of(bytes);
  TAMIS_CHECK(image.owned_.size() == bytes.size());
  return image;
}

Result<FilterImage> FilterImage::decode(AlignedBytes bytes, std::string_view name) {
  FilterImage image;
  TAMIS_TRY(image.header, decode_filter_header(bytes.span(), name));
  image.owned_ = std::move(bytes);
  return image;
}

Result<FilterImage> FilterImage::of_mapped(MappedFile file, std::string_view name) {
  FilterImage image;
  image.mapped_ = std::move(file);
  TAMIS_TRY(image.header, decode_filter_header(image.mapped_->bytes(), name));
  return image;
}

void FilterImage::seal() {
  TAMIS_CHECK(!mapped_.has_value());
  encode_filter_header(header, owned_.span());
}

FilterImage FilterImage::copy() const {
  FilterImage image;
  image.header = header;
  image.owned_ = AlignedBytes::copy_of(container());
  TAMIS_CHECK(image.owned_.size() == container().size());
  return image;
}

}  // namespace tamis
