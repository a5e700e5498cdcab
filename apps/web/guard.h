// Which requests tamis-web answers: those of a page that it served itself to somebody who knows the address.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::web {

/// What decides about a request.
struct RequestHead {
  std::string method;
  std::string path;                       ///< Without parameters.
  std::vector<std::string> hosts = {};    ///< The values of all Host headers.
  std::vector<std::string> origins = {};  ///< Of all Origin headers.
  std::vector<std::string> sites = {};    ///< Of all Sec-Fetch-Site headers.
};

/// Other users of the machine and pages of other sites can send requests to any port of 127.0.0.1. The first do not
/// know the token. The second cannot read it, but can guess the port and give their own name the address 127.0.0.1 (DNS
/// rebinding): their Host and Origin are other than ours.
///
/// Threads: immutable.
class Guard {
 public:
  Guard(std::string token, std::uint16_t port);

  struct Verdict {
    int status = 200;       ///< 403: no token, or of another host. 405: not GET.
    std::string path = {};  ///< What follows the token, from its slash on: "/api/stats".
  };
  [[nodiscard]] Verdict judge(const RequestHead& request) const;

 private:
  [[nodiscard]] bool is_ours(const RequestHead& request) const;
  [[nodiscard]] bool begins_with_token(std::string_view path) const;

  const std::string token_;
  const std::vector<std::string> hosts_;
};

/// 128 random bits, as text.
std::string make_token();

}  // namespace tamis::web
