// Base64 (RFC 4648) in both alphabets, padded, as Go stores bytes in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tamis::foreign {

/// Encodes with the URL alphabet ('-' and '_') and padding.
std::string base64url_encode(std::string_view bytes);

/// Decodes either alphabet, but no mixture. Returns nothing for other characters, wrong padding or non-zero trailing
/// bits: two different texts never decode to the same bytes.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tamis::foreign
