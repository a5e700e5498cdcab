// Whether a bucket can hold a store: asks its server what a store needs to know.
//
//     tamis::Result<tamis::BucketReport> report = tamis::check_bucket("s3://bucket/prefix");
//     if (report.ok()) print(report->to_text());
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/export.h"
#include "tamis/status.h"

namespace tamis {

/// What a server answered to the questions of check_bucket.
struct TAMIS_EXPORT BucketReport {
  /// One question.
  struct Answer {
    std::string what;     ///< What the server should do, e.g. "takes an object".
    bool is_yes = false;  ///< Whether it does.
    bool needed = true;   ///< Whether a store needs it; otherwise it is good to have.
    std::string why;      ///< If it does not: what it did instead.
  };
  /// How long requests of one kind took.
  struct Latency {
    std::string request;      ///< E.g. "PUT of 4 KiB".
    std::uint64_t count = 0;  ///< How many were sent, one after the other.
    double median_ms = 0;     ///< Half took no longer.
    double slowest_ms = 0;    ///< The longest.
  };

  std::string url;                  ///< The bucket and prefix that was asked about.
  std::string endpoint;             ///< The server: scheme, host and port.
  std::string region;               ///< What requests were signed for.
  std::vector<Answer> answers;      ///< In the order of asking.
  std::vector<Latency> latencies;   ///< Empty if something needed is missing.
  double clock_behind_seconds = 0;  ///< How far this machine's clock is behind the server's; negative: ahead.

  /// Whether nothing needed is missing.
  [[nodiscard]] bool ok() const;
  /// One line per question, then the latencies; 80 columns.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object with the same.
  [[nodiscard]] std::string to_json() const;
};

/// How check_bucket reaches the server.
struct BucketOptions {
  std::string endpoint;  ///< E.g. "http://127.0.0.1:7480"; empty: as the environment or AWS's files say, else AWS.
};

/// Writes some objects of up to 5 MiB under the prefix, reads, replaces, lists and removes them; nothing if the bucket
/// is versioned, which is an answer. `url` is "s3://bucket/prefix". Keys, region and endpoint are read from the AWS_...
/// variables of the environment, and from
/// ~/.aws/credentials and ~/.aws/config, as docs/BUCKETS.md lists. Fails if the server cannot be reached or turns the
/// keys away; kNotSupported if tamis was built without buckets or there is no libcurl.
TAMIS_EXPORT Result<BucketReport> check_bucket(const std::string& url, const BucketOptions& options = {});

}  // namespace tamis
