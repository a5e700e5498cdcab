#include "web/guard.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "cli/error.h"
#include "text/byte_text.h"

namespace tamis::web {
namespace {

constexpr std::size_t kTokenBytes = 16;

}  // namespace

Guard::Guard(std::string token, std::uint16_t port)
    : token_(std::move(token)), hosts_({fmt::format("127.0.0.1:{}", port), fmt::format("localhost:{}", port)}) {}

Guard::Verdict Guard::judge(const RequestHead& request) const {
  if (!is_ours(request) || !begins_with_token(request.path)) return {.status = 403};
  if (request.method != "GET") return {.status = 405};
  return {.path = request.path.substr(1 + token_.size())};
}

/// One Host, which is ours, and no sign of another site. Programs other than browsers send neither of the latter two.
bool Guard::is_ours(const RequestHead& request) const {
  const auto is_our_origin = [this](const std::string& origin) {
    return std::ranges::any_of(hosts_, [&](const std::string& host) { return origin == "http://" + host; });
  };
  const auto is_our_site = [](const std::string& site) { return site == "same-origin" || site == "none"; };
  return request.hosts.size() == 1 && std::ranges::find(hosts_, request.hosts.front()) != hosts_.end() &&
         std::ranges::all_of(request.origins, is_our_origin) && std::ranges::all_of(request.sites, is_our_site);
}

/// In a time that does not tell how many characters are right.
bool Guard::begins_with_token(std::string_view path) const {
  if (path.size() < token_.size() + 1 || path.front() != '/') return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < token_.size(); ++i) {
    differences |= static_cast<unsigned char>(path[1 + i]) ^ static_cast<unsigned char>(token_[i]);
  }
  return differences == 0 && (path.size() == token_.size() + 1 || path[1 + token_.size()] == '/');
}

std::string make_token() {
  std::array<char, kTokenBytes> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    cli::system_error("getrandom", "no random token for the address");
  }
  return to_hex({bytes.data(), bytes.size()});
}

}  // namespace tamis::web
