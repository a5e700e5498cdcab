// Where a bucket is and who we are there: from an address, the environment and the files that other S3 clients read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

struct S3Settings {
  std::string bucket;
  std::string prefix;    ///< Of all objects, without the slash that follows it; empty: the whole bucket.
  std::string endpoint;  ///< "https://host[:port]", without a slash at the end; empty: that of AWS.
  std::string region;
  std::string access_key;
  std::string secret_key;
  std::string session_token;  ///< Empty: the keys are permanent ones.
  std::string ca_bundle;      ///< A file of certificates to trust; empty: the machine's.

  /// How long a request is sent again, besides the time for its bytes. A try that was begun is not cut by it.
  std::chrono::milliseconds deadline{60'000};
  /// How long one try may take, besides the time for its bytes, and how long nothing may move on its connection.
  std::chrono::milliseconds try_limit{20'000};
  /// The slowest connection that is waited for.
  std::uint64_t bytes_per_second = std::uint64_t{64} << 10;
  /// A put of more bytes is sent in parts of this size (S3 takes none below 5 MiB but the last).
  std::uint64_t whole_put_bytes = std::uint64_t{16} << 20;
  std::uint64_t part_bytes = std::uint64_t{8} << 20;

  /// "https://bucket.s3.eu-west-1.amazonaws.com" or "http://host:7480/bucket". A bucket is part of the host at AWS, if
  /// certificates allow it, and of the path elsewhere.
  [[nodiscard]] std::string bucket_url() const;
};

/// The value of an environment variable; none if it is not set or empty.
using EnvironmentVariables = std::function<std::optional<std::string>(const char* name)>;
EnvironmentVariables process_environment();

/// Settings for "s3://bucket/prefix". The endpoint given here goes before those of environment and files; the
/// environment goes before the files. Read are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION,
/// AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_CA_BUNDLE, AWS_PROFILE, AWS_DEFAULT_PROFILE,
/// AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE, and the same names in lower case in the files.
Result<S3Settings> read_s3_settings(std::string_view url, std::string_view endpoint,
                                    const EnvironmentVariables& variables, FileSystem& files);

/// Everything but letters, digits and "-._~" as %XX; slashes stay if `keeps_slashes`.
std::string uri_escaped(std::string_view text, bool keeps_slashes);

}  // namespace tamis
