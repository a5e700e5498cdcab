// Signed HTTP requests over kept connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/sync.h"
#include "object/curl_library.h"
#include "object/s3_settings.h"

namespace tamis {

struct HttpRequest {
  const char* method = "GET";
  std::string url = {};
  std::vector<std::string> headers = {};  ///< "Name: value".
  Bytes body = {};                        ///< Of PUT and POST.
  std::uint64_t answer_bytes = 0;         ///< How many may be expected; the time for them is added to the limits.
  std::uint64_t longest_answer = std::uint64_t{1} << 20;
  bool once = false;  ///< Never sent again by libcurl itself, as it does when a kept connection turns out to be closed.
};

/// What a server answered.
struct HttpAnswer {
  long status = 0;
  std::string body;
  bool has_length = false;  ///< Content-Length was given, and the body is as long.
  std::string etag;
  std::string content_range;
  std::string bucket_region;  ///< x-amz-bucket-region.
  double seconds_behind = 0;  ///< How far this machine's clock is behind the server's, by its Date.
};

/// What became of a request.
struct HttpOutcome {
  enum class Kind : std::uint8_t {
    kAnswered,
    kNotSent,     ///< No connection: the server has not seen it. Trying again may help.
    kLost,        ///< The server may have done it.
    kImpossible,  ///< Not sent, and trying again does not help: `status`.
  };
  Kind kind = Kind::kLost;
  HttpAnswer answer;
  std::string why;  ///< If there is no answer: what libcurl says.
  Status status;
};

/// Sends requests, each on the thread of its caller, signed with the keys of the settings (SigV4). Connections are kept
/// for later requests; as many are open as requests were under way at once.
///
/// Threads: any.
class HttpClient {
 public:
  HttpClient(const CurlLibrary& curl, const S3Settings& settings);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// `limit` is for everything; a connection on which nothing moves is given up after `stall`.
  HttpOutcome send(const HttpRequest& request, std::chrono::milliseconds limit, std::chrono::milliseconds stall);

 private:
  CURL* take_handle();
  void give_back(CURL* handle);
  void set_options(CURL* handle, const HttpRequest& request) const;

  const CurlLibrary& curl_;
  const std::string user_;       ///< "access key:secret key".
  const std::string signature_;  ///< What CURLOPT_AWS_SIGV4 takes.
  const std::string session_token_;
  const std::string ca_bundle_;
  Mutex mutex_;
  std::vector<CURL*> idle_ GUARDED_BY(mutex_);
};

}  // namespace tamis
