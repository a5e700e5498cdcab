#include "web/server.h"

#include <fmt/core.h>
#include <httplib.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "cli/error.h"
#include "web/guard.h"

namespace tamis::web {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr std::size_t kThreads = 8;
constexpr std::size_t kMaxBodyBytes = 1024;  // Nobody sends one.
constexpr time_t kReadSeconds = 5;

/// The page has no script or style in its HTML, and loads nothing from elsewhere.
const httplib::Headers kHeaders = {
    {"Content-Security-Policy",
     "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"},
    {"Cache-Control", "no-store"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
};

std::vector<std::string> values_of(const httplib::Request& request, const std::string& header) {
  std::vector<std::string> values;
  const auto [begin, end] = request.headers.equal_range(header);
  for (auto it = begin; it != end; ++it) values.push_back(it->second);
  return values;
}

RequestHead head_of(const httplib::Request& request) {
  return {.method = request.method,
          .path = request.path,
          .hosts = values_of(request, "Host"),
          .origins = values_of(request, "Origin"),
          .sites = values_of(request, "Sec-Fetch-Site")};
}

/// Not SO_REUSEPORT, the library's default: two programs could then have the port.
void set_socket_options(socket_t socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

struct Server::Http {
  httplib::Server server;
  std::optional<Guard> guard;
};

Server::Server(Answerer answerer) : answer_(std::move(answerer)), http_(std::make_unique<Http>()) {
  httplib::Server& server = http_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  server.set_socket_options(set_socket_options);
  server.set_default_headers(kHeaders);
  server.set_keep_alive_max_count(1);  // An open connection holds a thread.
  server.set_read_timeout(kReadSeconds);
  server.set_payload_max_length(kMaxBodyBytes);
  server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    const Guard::Verdict verdict = http_->guard->judge(head_of(request));
    Answer answer = {.status = verdict.status, .type = "text/plain"};
    if (verdict.status == 200) answer = answer_(verdict.path, request.params);
    if (verdict.status == 405) response.set_header("Allow", "GET");
    response.status = answer.status;
    response.set_content(answer.body, answer.type);
    return httplib::Server::HandlerResponse::Handled;
  });
}

Server::~Server() = default;

std::string Server::bind(std::optional<std::uint32_t> port) {
  httplib::Server& server = http_->server;
  const int wanted = static_cast<int>(port.value_or(0));
  const int bound =
      wanted == 0 ? server.bind_to_any_port(kAddress) : (server.bind_to_port(kAddress, wanted) ? wanted : -1);
  if (bound <= 0) cli::system_error(fmt::format("{}:{}", kAddress, wanted), "cannot listen");
  std::string token = make_token();
  std::string address = fmt::format("http://{}:{}/{}/", kAddress, bound, token);
  http_->guard.emplace(std::move(token), static_cast<std::uint16_t>(bound));
  return address;
}

void Server::serve() {
  if (!http_->server.listen_after_bind()) throw cli::CommandError(cli::kExitInputOutput, "the server stopped");
}

}  // namespace tamis::web
