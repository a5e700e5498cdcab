// As much JSON as Go's filters are written in: one string, or one object of whole numbers and strings.
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

/// The text as one string, and nothing after it. kCorruption, naming the bytes, for anything else.
Result<std::string> read_go_json_string(Bytes text, std::string_view name);
/// The text as one object, and nothing after it. kCorruption for anything else: values of other types, which a filter
/// does not have, a name that stands twice, and escapes other than those of ASCII characters.
Result<std::map<std::string, GoJsonValue>> read_go_json_object(Bytes text, std::string_view name);

}  // namespace tamis::foreign
