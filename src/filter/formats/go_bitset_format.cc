#include "filter/formats/go_bitset_format.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "filter/formats/base64.h"

namespace tamis::foreign {

Result<std::uint64_t> read_bitset_length(ByteReader& reader, BitOrder order) {
  constexpr std::string_view kWhat = "the length of the bitset";
  return order == BitOrder::kBytes ? reader.read_le<std::uint64_t>(kWhat) : reader.read_be<std::uint64_t>(kWhat);
}

void write_bitset_length(std::string& file, std::uint64_t bits, BitOrder order) {
  order == BitOrder::kBytes ? append_le(file, bits) : append_be(file, bits);
}

Result<std::string> decode_bitset_text(std::string_view text, std::string_view name) {
  std::optional<std::string> bytes = base64_decode(text);
  if (!bytes) return Status::corruption(fmt::format("{}: the bitset is not base64", name));
  return *std::move(bytes);
}

}  // namespace tamis::foreign
