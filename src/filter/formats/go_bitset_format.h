// bits-and-blooms/bitset as Go programs write it: a length in bits, then 64-bit words, all in one byte order.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filter/formats/classic.h"

namespace tamis::foreign {

/// The length before the words, in their byte order.
Result<std::uint64_t> read_bitset_length(ByteReader& reader, BitOrder order);
void write_bitset_length(std::string& file, std::uint64_t bits, BitOrder order);

/// Decodes the base64 text of a bitset in Go's JSON; the error message uses `name`.
Result<std::string> decode_bitset_text(std::string_view text, std::string_view name);

}  // namespace tamis::foreign
