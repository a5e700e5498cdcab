#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "filter/open_filter.h"
#include "tamis/filter.h"

namespace tamis {

struct FilterImport::State {
  AlignedBytes bytes;  // Of the whole filter.
  std::size_t added = 0;
};

FilterImport::FilterImport() = default;
FilterImport::~FilterImport() = default;
FilterImport::FilterImport(FilterImport&&) noexcept = default;
FilterImport& FilterImport::operator=(FilterImport&&) noexcept = default;

Status FilterImport::add(std::span<const std::byte> part) {
  if (state_ == nullptr) {
    if (part.size() < kFilterHeaderBytes) {
      return Status::invalid_argument(fmt::format("the first part has {} bytes; it must have the {} of the header",
                                                  part.size(), kFilterHeaderBytes));
    }
    TAMIS_TRY(const std::uint64_t bytes, announced_filter_bytes(part, "the first part"));
    AlignedBytes all = AlignedBytes::zeroed(bytes);
    if (all.size() != bytes) return no_memory_for(bytes);
    state_ = std::make_unique<State>(State{.bytes = std::move(all)});
  }
  if (part.size() > state_->bytes.size() - state_->added) {
    return Status::corruption(fmt::format("{} bytes behind the {} that the filter has",
                                          part.size() - (state_->bytes.size() - state_->added), state_->bytes.size()));
  }
  std::copy(part.begin(), part.end(), state_->bytes.data() + state_->added);
  state_->added += part.size();
  return {};
}

Result<MutableFilter> FilterImport::finish() {
  const std::unique_ptr<State> state = std::exchange(state_, nullptr);
  if (state == nullptr || state->added < state->bytes.size()) {
    return Status::invalid_argument(fmt::format("parts are missing: {} of {} bytes were added",
                                                state == nullptr ? 0 : state->added,
                                                state == nullptr ? kFilterHeaderBytes : state->bytes.size()));
  }
  TAMIS_TRY(FilterImage image, FilterImage::decode(std::move(state->bytes), "an imported filter"));
  return open_mutable_filter(std::move(image), "an imported filter");
}

}  // namespace tamis
