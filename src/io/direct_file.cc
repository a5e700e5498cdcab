#include "io/direct_file.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"

namespace tamis {
namespace {

std::uint64_t aligned_down(std::uint64_t offset) { return offset / kDirectAlignment * kDirectAlignment; }
std::uint64_t aligned_up(std::uint64_t offset) { return aligned_down(offset + kDirectAlignment - 1); }

}  // namespace

DirectRead::DirectRead(std::uint64_t offset, MutableBytes to)
    : begin_(aligned_down(offset)), skipped_(static_cast<std::size_t>(offset - begin_)), to_(to) {
  const auto bytes = static_cast<std::size_t>(aligned_up(offset + to.size()) - begin_);
  memory_ = AlignedBytes::unset(bytes + kDirectAlignment);
  if (!has_memory()) return;
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
  aligned_ = memory_.span().subspan(static_cast<std::size_t>(aligned_up(address) - address), bytes);
}

std::size_t DirectRead::finish(std::size_t there) {
  const std::size_t wanted = std::min(to_.size(), there - std::min(there, skipped_));
  if (wanted != 0) std::memcpy(to_.data(), aligned_.data() + skipped_, wanted);
  return wanted;
}

Result<std::size_t> DirectFile::read_at(std::uint64_t offset, MutableBytes to) const {
  if (to.empty()) return std::size_t{0};
  DirectRead read(offset, to);
  if (!read.has_memory())
    return Status::out_of_space("no memory for a read of " + std::to_string(to.size()) + " bytes");
  TAMIS_TRY(const std::size_t there, file_->read_at(read.offset(), read.bytes()));
  return read.finish(there);
}

}  // namespace tamis
