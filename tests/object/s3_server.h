// A small S3 server in a process of its own: s3_server.py.
#pragma once

#include <sys/types.h>

#include <string>

#include "object/s3_settings.h"

namespace tamis::test {

/// Runs the server until it is destroyed.
class S3Server {
 public:
  /// How it wants the etag of If-Match: radosgw's is kBare.
  enum class Etags : unsigned char { kQuoted, kBare };

  explicit S3Server(Etags etags = Etags::kQuoted);
  ~S3Server();
  S3Server(const S3Server&) = delete;
  S3Server& operator=(const S3Server&) = delete;

  /// Sends a command of s3_server.py and returns its answer.
  std::string command(const std::string& line);
  [[nodiscard]] std::string endpoint() const { return "http://127.0.0.1:" + port_; }
  /// For its bucket, with limits of a second or so.
  [[nodiscard]] S3Settings settings() const;

 private:
  std::string read_line();

  pid_t pid_ = -1;
  int to_server_ = -1;
  int from_server_ = -1;
  std::string port_;
};

}  // namespace tamis::test
