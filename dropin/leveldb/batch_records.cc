#include "batch_records.h"

namespace tamis::dropin {
namespace {

constexpr char kDelete = 0;
constexpr char kPut = 1;
constexpr std::size_t kCountAt = 8;

std::uint32_t count_of(std::string_view bytes) {
  std::uint32_t count = 0;
  for (unsigned i = 0; i < 4; ++i) {
    count |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[kCountAt + i])) << (8 * i);
  }
  return count;
}

void add_to_count(std::string& bytes, std::uint32_t more) {
  const std::uint32_t count = count_of(bytes) + more;
  for (unsigned i = 0; i < 4; ++i) bytes[kCountAt + i] = static_cast<char>(count >> (8 * i));
}

void add_field(std::string& bytes, std::string_view field) {
  auto left = static_cast<std::uint32_t>(field.size());
  for (; left >= 0x80; left >>= 7) bytes.push_back(static_cast<char>(left | 0x80));
  bytes.push_back(static_cast<char>(left));
  bytes.append(field);
}

}  // namespace

BatchRecords::BatchRecords(std::string_view bytes) {
  if (bytes.size() < kHeader) {
    damage_ = "the header is cut off";
    return;
  }
  left_ = count_of(bytes);
  rest_ = bytes.substr(kHeader);
}

std::optional<BatchRecord> BatchRecords::next() {
  if (damage_ != nullptr) return std::nullopt;
  if (rest_.empty()) return left_ == 0 ? std::nullopt : stop("records are missing");
  if (left_ == 0) return stop("there are more records than its header counts");
  const char kind = rest_.front();
  rest_.remove_prefix(1);
  if (kind != kPut && kind != kDelete) return stop("a record is neither a put nor a delete");
  const std::optional<std::string_view> key = take_field();
  if (!key) return stop("a key is cut off");
  BatchRecord record{.key = *key, .value = std::nullopt};
  if (kind == kPut) {
    record.value = take_field();
    if (!record.value) return stop("a value is cut off");
  }
  --left_;
  return record;
}

std::optional<std::string_view> BatchRecords::take_field() {
  std::uint64_t size = 0;
  std::size_t at = 0;
  for (; at < 5; ++at) {
    if (at == rest_.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(rest_[at]);
    size |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * at);
    if (byte < 0x80) break;
  }
  if (at == 5 || size > rest_.size() - at - 1) return std::nullopt;
  const std::string_view field = rest_.substr(at + 1, size);
  rest_.remove_prefix(at + 1 + size);
  return field;
}

std::optional<BatchRecord> BatchRecords::stop(const char* damage) {
  damage_ = damage;
  return std::nullopt;
}

void BatchRecords::add_put(std::string& bytes, std::string_view key, std::string_view value) {
  add_to_count(bytes, 1);
  bytes.push_back(kPut);
  add_field(bytes, key);
  add_field(bytes, value);
}

void BatchRecords::add_delete(std::string& bytes, std::string_view key) {
  add_to_count(bytes, 1);
  bytes.push_back(kDelete);
  add_field(bytes, key);
}

void BatchRecords::append(std::string& bytes, const std::string& source) {
  const std::uint32_t more = count_of(source);
  const std::size_t end = source.size();  // The source may be `bytes`, and grow.
  bytes.append(source, kHeader, end - kHeader);
  add_to_count(bytes, more);
}

}  // namespace tamis::dropin
