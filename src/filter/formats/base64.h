// Base64 (RFC 4648) in both alphabets, padded: how Go keeps bytes in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tamis::foreign {

/// Encodes with the URL alphabet ('-' and '_') and padding.
std::string base64url_encode(std::string_view bytes);

/// Decodes either alphabet, not a mixture of the two. Nothing for other characters, wrong padding, or bits set where
/// none may be: two different texts never mean the same bytes.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tamis::foreign
