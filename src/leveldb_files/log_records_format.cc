#include "leveldb_files/log_records_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"
#include "filter/formats/foreign_hash.h"

namespace tamis::leveldb {
namespace {

constexpr std::size_t kBlockBytes = 32768;
constexpr std::size_t kHeaderBytes = 7;

constexpr std::uint8_t kFull = 1;
constexpr std::uint8_t kFirst = 2;
constexpr std::uint8_t kMiddle = 3;
constexpr std::uint8_t kLast = 4;

bool is_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

}  // namespace

Result<std::optional<std::string>> LogRecords::next() {
  TAMIS_TRY(const std::optional<Fragment> first, next_fragment());
  if (!first) return std::optional<std::string>();
  record_offset_ = fragment_offset_;
  if (first->type != kFull && first->type != kFirst) return corruption("a record without a beginning");
  std::string record(as_text(first->payload));
  for (std::uint8_t type = first->type; type != kFull && type != kLast;) {
    TAMIS_TRY(const std::optional<Fragment> next, next_fragment());
    if (!next) {
      torn_at_ = record_offset_;
      return std::optional<std::string>();
    }
    if (next->type != kMiddle && next->type != kLast) return corruption("a record begins inside another");
    record.append(as_text(next->payload));
    type = next->type;
  }
  return std::optional(std::move(record));
}

/// Nullopt at the end of the file; torn_at_ is set if that is inside a fragment.
Result<std::optional<LogRecords::Fragment>> LogRecords::next_fragment() {
  while (!torn_at_) {
    const std::size_t left = block_.size() - at_;
    if (is_started_ && left >= kHeaderBytes) return take_fragment();
    if (is_last_) {
      // The last bytes of a whole block are never used.
      if (left != 0 && block_.size() != kBlockBytes) torn_at_ = offset();
      break;
    }
    TAMIS_TRY_STATUS(read_block());
  }
  return std::optional<Fragment>();
}

Result<std::optional<LogRecords::Fragment>> LogRecords::take_fragment() {
  fragment_offset_ = offset();
  const char* const header = block_.data() + at_;
  const auto length = load_le<std::uint16_t>(header + 4);
  const auto type = load_le<std::uint8_t>(header + 6);
  if (is_zero({header, kHeaderBytes})) {
    TAMIS_TRY(const bool is_end, rest_is_zero());
    if (!is_end) return corruption("zeros instead of a record");
    torn_at_ = fragment_offset_;
    return std::optional<Fragment>();
  }
  if (length > kBlockBytes - at_ - kHeaderBytes) return corruption("a record longer than its block");
  if (length > block_.size() - at_ - kHeaderBytes) {
    torn_at_ = fragment_offset_;
    return std::optional<Fragment>();
  }
  const Bytes checked = as_bytes({header + 6, std::size_t{1} + length});
  const std::uint32_t computed = foreign::masked_crc32c(foreign::crc32c(checked));
  const auto stored = load_le<std::uint32_t>(header);
  if (stored != computed) {
    return corruption(fmt::format("the checksum of a record is {:#010x}, computed {:#010x}", stored, computed));
  }
  if (type < kFull || type > kLast) {
    return Status::not_supported(
        fmt::format("{}: at offset {}: a record of type {}; LevelDB writes none of it", name_, fragment_offset_, type));
  }
  at_ += kHeaderBytes + length;
  return std::optional(Fragment{type, checked.subspan(1)});
}

Status LogRecords::read_block() {
  if (is_started_) block_offset_ += block_.size();
  block_.resize(kBlockBytes);
  TAMIS_TRY(const std::size_t there, file_.read_at(block_offset_, std::as_writable_bytes(std::span(block_))));
  TAMIS_TRY(const std::uint64_t size, file_.size());
  block_.resize(there);
  at_ = 0;
  is_started_ = true;
  is_last_ = block_offset_ + there >= size;
  return {};
}

/// Whether the file has nothing but zeros from here on.
Result<bool> LogRecords::rest_is_zero() {
  if (!is_zero(std::string_view(block_).substr(at_))) return false;
  std::string bytes(kBlockBytes, '\0');
  for (std::uint64_t from = block_offset_ + block_.size();; from += bytes.size()) {
    TAMIS_TRY(const std::size_t there, file_.read_at(from, std::as_writable_bytes(std::span(bytes))));
    if (!is_zero(std::string_view(bytes).substr(0, there))) return false;
    if (there < bytes.size()) return true;
  }
}

Status LogRecords::corruption(std::string_view why) const {
  return Status::corruption(fmt::format("{}: at offset {}: {}", name_, fragment_offset_, why));
}

}  // namespace tamis::leveldb
