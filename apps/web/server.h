// An HTTP server on 127.0.0.1. Only its implementation includes cpp-httplib, which takes seconds to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "web/answer.h"

namespace tamis::web {

/// Answers what a Guard lets through. Every response forbids scripts of others, framing, caching and referrers.
///
/// Threads: one calls it; `answer` is called by several at once.
class Server {
 public:
  using Answerer = std::function<Answer(const std::string& path, const Parameters& parameters)>;

  explicit Server(Answerer answer);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Takes this port of 127.0.0.1, or any, and returns the address of the page. Throws CommandError.
  std::string bind(std::optional<std::uint32_t> port);
  /// Serves until the process ends.
  void serve();

 private:
  struct Http;
  const Answerer answer_;
  std::unique_ptr<Http> http_;
};

}  // namespace tamis::web
