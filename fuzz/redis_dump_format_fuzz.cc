// dump_format of the module for Redis: any bytes are a value or refused; a value that is loaded can be asked, changed,
// and written, and what was written is the same value. The checksums are repaired first.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "dump_format.h"
#include "filter/filter_format.h"
#include "filters.h"

namespace tamis_redis {
namespace {

std::string repaired_head(std::string head) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char byte : head) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  for (int i = 0; i < 64; i += 8) head += static_cast<char>(sum >> i);
  return head;
}

/// A container as long as it says, with the right checksum.
std::string repaired_container(std::string container) {
  if (container.size() < tamis::kFilterHeaderBytes) return container;
  const tamis::MutableBytes bytes(reinterpret_cast<std::byte*>(container.data()), container.size());
  std::ranges::copy(tamis::as_bytes(tamis::kFilterMagic), bytes.begin());
  tamis::store_le(bytes.data() + 8, tamis::kFilterVersion);
  tamis::store_le(bytes.data() + 12, static_cast<std::uint32_t>(tamis::kFilterHeaderBytes));
  tamis::store_le(bytes.data() + 40, static_cast<std::uint64_t>(container.size() - tamis::kFilterHeaderBytes));
  tamis::store_le(bytes.data() + 120,
                  tamis::checksum64(tamis::Bytes(bytes).first(120), tamis::Bytes(bytes).subspan(128)));
  return container;
}

std::string written(Value& value) {
  std::string all = encode_head(value);
  std::uint64_t at = 0;
  for (std::string_view piece; !(piece = body_at(value, at)).empty(); at += piece.size()) all += piece;
  TAMIS_CHECK(at == body_bytes(value));
  return all;
}

void use(Value& value) {
  (void)memory_of(value);
  if (!value.is_complete()) return;
  (void)capacity_of(value);
  (void)may_contain(value, "a");
  if (value.shape.capacity * value.shape.expansion > std::uint64_t{1} << 24)
    return;  // The next filter may be that large.
  for (const char* item : {"a", "b", "a"}) {
    if (add(value, item) == Added::kYes) TAMIS_CHECK(may_contain(value, item));
  }
  if (value.sort == Sort::kBloom) return;
  (void)count(value, "a");
  (void)remove(value, "b");
}

/// A head, and one container behind it, which comes in two pieces.
void load(Sort sort, const std::string& head, const std::string& container) {
  Refusal refusal;
  const std::unique_ptr<Value> value = decode_head(head, sort, refusal);
  TAMIS_CHECK((value == nullptr) != refusal.reason.empty());
  if (value == nullptr) return;
  const std::size_t half = container.size() / 2;
  if (append_body(*value, std::string_view(container).substr(0, half), refusal)) {
    append_body(*value, std::string_view(container).substr(half), refusal);
  }
  const std::string first = written(*value);
  const std::unique_ptr<Value> copy = decode_head(encode_head(*value), sort, refusal);
  TAMIS_CHECK(copy != nullptr);
  std::uint64_t at = 0;
  for (std::string_view piece; !(piece = body_at(*value, at)).empty(); at += piece.size()) {
    TAMIS_CHECK(append_body(*copy, piece, refusal));
  }
  TAMIS_CHECK(written(*copy) == first);
  use(*value);
}

}  // namespace
}  // namespace tamis_redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tamis_redis;
  constexpr std::size_t kHeadBytes = 64;  // For one filter, without its checksum.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const Sort sort : {Sort::kBloom, Sort::kCuckoo}) {
    load(sort, bytes.substr(0, std::min(size, kHeadBytes + 8)), {});
    if (size < kHeadBytes) continue;
    const std::string container = repaired_container(bytes.substr(kHeadBytes));
    std::string head = bytes.substr(0, kHeadBytes);
    std::ranges::copy(std::string_view(sort == Sort::kBloom ? "tamisbf\1" : "tamiscf\1"), head.begin());
    for (std::size_t i = 0; i < 8; ++i) head[48 + i] = i == 0 ? '\1' : '\0';
    for (std::size_t i = 0; i < 8; ++i) head[56 + i] = static_cast<char>(container.size() >> (8 * i));
    load(sort, repaired_head(head), container);
  }
  return 0;
}
