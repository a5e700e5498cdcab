// The JSON of Go's filters: one string, or one object of whole numbers and strings, with bytes in base64.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/bytes.h"

namespace tamis::foreign {

/// A whole number, or a string.
using GoJsonValue = std::variant<std::uint64_t, std::string>;

/// Parses the text as one string. Returns kCorruption, naming the bytes, for anything else.
Result<std::string> read_go_json_string(Bytes text, std::string_view name);
/// Parses the text as one object. Returns kCorruption for anything else: values of other types, which no filter has,
/// duplicate names, and escapes of non-ASCII characters.
Result<std::map<std::string, GoJsonValue>> read_go_json_object(Bytes text, std::string_view name);

/// Base64 (RFC 4648) with the URL alphabet ('-' and '_') and padding.
std::string base64url_encode(std::string_view bytes);

/// Decodes either alphabet, but no mixture. Returns nothing for other characters, wrong padding or non-zero trailing
/// bits: two different texts never decode to the same bytes.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace tamis::foreign
