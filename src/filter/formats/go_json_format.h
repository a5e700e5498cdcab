// The subset of JSON in Go's filters: one string, or one object of whole numbers and strings.
#pragma once

#include <cstdint>
#include <map>
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

}  // namespace tamis::foreign
