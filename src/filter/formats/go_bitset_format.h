// bits-and-blooms/bitset as Go programs write it: a length in bits, then 64-bit words, all in one byte order.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "filter/formats/classic.h"

namespace tamis::foreign {

/// The length that stands before the words, in the byte order of the words.
Result<std::uint64_t> read_bitset_length(ByteReader& reader, BitOrder order);
void write_bitset_length(std::string& file, std::uint64_t bits, BitOrder order);

/// The bytes of a bitset from the base64 text that Go's JSON holds; the name is for the message.
Result<std::string> decode_bitset_text(std::string_view text, std::string_view name);

}  // namespace tamis::foreign
