#include "filter/filter_log_format.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/hash.h"

namespace tamis {
namespace {

constexpr std::size_t kHeadBytes = 24;
constexpr std::size_t kSumBytes = 8;

}  // namespace

void append_filter_log_record(std::string& to, const FilterLogRecord& record, std::uint64_t seed,
                              std::uint64_t offset) {
  TAMIS_CHECK(!record.hashes.empty() && record.hashes.size() <= FilterLogRecord::kMaxHashes);
  std::string rest;
  append_le(rest, record.durable_end);
  append_le(rest, static_cast<std::uint32_t>(record.change));
  append_le(rest, static_cast<std::uint32_t>(record.hashes.size()));
  for (const std::uint64_t hash : record.hashes) append_le(rest, hash);
  append_le(to, seeded_checksum64(as_bytes(rest), seed + offset));
  to += rest;
}

std::optional<FilterLogRecord> FilterLogReader::record_at(std::uint64_t offset) const {
  const std::uint64_t left = file_.size() - offset;
  if (left < kHeadBytes) return std::nullopt;
  const std::byte* at = file_.data() + offset;
  const auto change = load_le<std::uint32_t>(at + 16);
  const auto count = load_le<std::uint32_t>(at + 20);
  if (change < 1 || change > 2 || count < 1 || count > FilterLogRecord::kMaxHashes) return std::nullopt;
  const std::uint64_t bytes = kHeadBytes + 8 * std::uint64_t{count};
  if (left < bytes) return std::nullopt;
  if (load_le<std::uint64_t>(at) != seeded_checksum64({at + kSumBytes, bytes - kSumBytes}, seed_ + offset)) {
    return std::nullopt;
  }
  FilterLogRecord record = {.change = static_cast<FilterChange>(change), .durable_end = load_le<std::uint64_t>(at + 8)};
  for (std::uint64_t i = 0; i < count; ++i) {
    record.hashes.push_back(load_le<std::uint64_t>(at + kHeadBytes + 8 * i));
  }
  return record;
}

Result<std::optional<FilterLogRecord>> FilterLogReader::next() {
  std::optional<FilterLogRecord> record = record_at(end_);
  if (record) {
    end_ += kHeadBytes + 8 * record->hashes.size();
    return record;
  }
  for (std::uint64_t later = end_ + 8; later < file_.size(); later += 8) {
    if (const std::optional<FilterLogRecord> proof = record_at(later); proof && proof->durable_end > end_) {
      return Status::corruption(fmt::format(
          "{}: at offset {}: no valid change, though the one at offset {} was written when this was durable", name_,
          end_, later));
    }
  }
  return std::optional<FilterLogRecord>();
}

}  // namespace tamis
