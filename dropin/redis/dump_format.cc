#include "dump_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "filters.h"

namespace tamis_redis {
namespace {

constexpr std::string_view kBloomMagic = "tamisbf";
constexpr std::string_view kCuckooMagic = "tamiscf";
constexpr char kVersion = 1;
constexpr std::size_t kFixedBytes = 56;  // All but the lengths of the filters and the checksum.
constexpr std::uint64_t kMostFilterBytes = std::uint64_t{1} << 48;

std::string_view magic_of(Sort sort) { return sort == Sort::kBloom ? kBloomMagic : kCuckooMagic; }

template <typename Number>
void append(std::string& bytes, Number number) {
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i));
}

/// Takes numbers off the front of bytes that are long enough.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename Number>
  Number take() {
    Number number = 0;
    for (std::size_t i = 0; i < sizeof number; ++i) {
      number = static_cast<Number>(number | Number{static_cast<unsigned char>(bytes_[i])} << (8 * i));
    }
    bytes_.remove_prefix(sizeof number);
    return number;
  }

 private:
  std::string_view bytes_;
};

std::uint64_t checksum_of(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return sum;
}

bool is_sane(const Value& value) {
  const Shape& shape = value.shape;
  if (shape.capacity == 0 || shape.capacity > kMostCapacity || shape.expansion > kMostExpansion) return false;
  const bool is_chain = value.sort == Sort::kBloom && shape.expansion > 0;
  if (value.awaited.empty() || (value.awaited.size() > 1 && !is_chain)) return false;
  if (value.sort == Sort::kBloom) {
    if (!(shape.error_rate > 0 && shape.error_rate < 1)) return false;
  } else if (shape.bucket_size == 0 || shape.bucket_size > kMostBucketSize || shape.max_iterations == 0) {
    return false;
  }
  return std::all_of(value.awaited.begin(), value.awaited.end(),
                     [](std::uint64_t bytes) { return bytes > 0 && bytes <= kMostFilterBytes; });
}

/// The first awaited filter, of which all bytes have arrived.
bool open_arrived(Value& value, Refusal& refusal) {
  tamis::FilterImport import;
  const tamis::Status added = import.add(std::as_bytes(std::span(value.arrived)));
  if (!added.ok()) {
    refusal.reason = added.message();
    return false;
  }
  tamis::Result<tamis::MutableFilter> filter = import.finish();
  if (!filter.ok()) {
    refusal.reason = filter.status().message();
    return false;
  }
  value.filters.push_back(*std::move(filter));
  const bool is_last = value.awaited.size() == 1;
  const bool has_room = value.sort == Sort::kCuckoo || value.items <= capacity_of(value);
  if (!fits_its_shape(value, value.filters.size() - 1) || (is_last && !has_room)) {
    value.filters.pop_back();
    refusal.reason = "it is not the filter that the head announces";
    return false;
  }
  value.awaited.erase(value.awaited.begin());
  value.arrived = {};
  return true;
}

}  // namespace

std::string encode_head(Value& value) {
  std::string head(magic_of(value.sort));
  head += kVersion;
  append(head, value.items);
  append(head, value.removed);
  append(head, value.shape.capacity);
  append(head, std::bit_cast<std::uint64_t>(value.shape.error_rate));
  append(head, value.shape.expansion);
  append(head, value.shape.bucket_size);
  append(head, value.shape.max_iterations);
  append(head, std::uint64_t{value.filters.size() + value.awaited.size()});
  for (tamis::MutableFilter& filter : value.filters) append(head, container_bytes(filter));
  for (const std::uint64_t bytes : value.awaited) append(head, bytes);
  append(head, checksum_of(head));
  return head;
}

std::unique_ptr<Value> decode_head(std::string_view head, Sort sort, Refusal& refusal) {
  const auto refuse = [&](const char* why) {
    refusal.reason = why;
    return nullptr;
  };
  if (head.size() < kFixedBytes + 8 || !head.starts_with(magic_of(sort)))
    return refuse("it is no dump of such a filter");
  if (const char version = head[kBloomMagic.size()]; version != kVersion) {
    const int number = static_cast<unsigned char>(version);
    refusal = {.reason = "version " + std::to_string(number) + " of its format is not supported", .is_newer = true};
    return nullptr;
  }
  const std::string_view summed = head.substr(0, head.size() - 8);
  if (Reader(head.substr(summed.size())).take<std::uint64_t>() != checksum_of(summed)) {
    return refuse("the checksum of its head is wrong");
  }
  auto value = std::make_unique<Value>();
  value->sort = sort;
  Reader reader(head.substr(8));
  value->items = reader.take<std::uint64_t>();
  value->removed = reader.take<std::uint64_t>();
  value->shape.capacity = reader.take<std::uint64_t>();
  value->shape.error_rate = std::bit_cast<double>(reader.take<std::uint64_t>());
  value->shape.expansion = reader.take<std::uint32_t>();
  value->shape.bucket_size = reader.take<std::uint16_t>();
  value->shape.max_iterations = reader.take<std::uint16_t>();
  const auto filters = reader.take<std::uint64_t>();
  if (filters != (summed.size() - kFixedBytes) / 8 || summed.size() % 8 != 0)
    return refuse("its head has another length");
  for (std::uint64_t i = 0; i < filters; ++i) value->awaited.push_back(reader.take<std::uint64_t>());
  if (!is_sane(*value)) return refuse("its head has impossible numbers");
  return value;
}

std::string_view body_at(Value& value, std::uint64_t position) {
  for (tamis::MutableFilter& filter : value.filters) {
    const std::uint64_t bytes = container_bytes(filter);
    if (position < bytes) {
      const std::span<const std::byte> part = filter.part(position, kMostChunkBytes);
      return {reinterpret_cast<const char*>(part.data()), part.size()};
    }
    position -= bytes;
  }
  if (position >= value.arrived.size()) return {};
  return std::string_view(value.arrived).substr(position, kMostChunkBytes);
}

std::uint64_t body_bytes(Value& value) {
  return std::accumulate(value.filters.begin(), value.filters.end(), std::uint64_t{value.arrived.size()},
                         [](std::uint64_t sum, tamis::MutableFilter& filter) { return sum + container_bytes(filter); });
}

bool append_body(Value& value, std::string_view bytes, Refusal& refusal) {
  if (value.is_complete() || bytes.size() > value.awaited.front() - value.arrived.size()) {
    refusal.reason = "there are more bytes than the head announces";
    return false;
  }
  const std::size_t before = value.arrived.size();
  value.arrived += bytes;
  if (value.arrived.size() < value.awaited.front() || open_arrived(value, refusal)) return true;
  value.arrived.resize(before);
  return false;
}

}  // namespace tamis_redis
