// An answer to a request, and the parameters of one.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tamis::web {

/// As decoded from the address; a name may occur several times.
using Parameters = std::multimap<std::string, std::string>;

/// The first one of this name.
inline std::optional<std::string_view> find_parameter(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.lower_bound(name);
  if (found == parameters.end() || found->first != name) return std::nullopt;
  return found->second;
}

/// What a request gets.
struct Answer {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
};

}  // namespace tamis::web
