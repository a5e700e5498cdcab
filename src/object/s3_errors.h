// What an S3 server means by an answer that is not success.
#pragma once

#include <string>

#include "object/http_client.h"

namespace tamis {

/// An error as S3 servers describe it: a code ("NoSuchBucket") and a sentence. Both empty if the body says nothing.
struct S3Error {
  std::string code;
  std::string message;
  std::string region;  ///< The bucket's, if the request was signed for another.
};

S3Error read_s3_error(const HttpAnswer& answer);

/// Whether the server failed or was busy, so that the request may have been done or may be later, and trying again may
/// help: 5xx (501 is a refusal), 408, 409, 429, and RequestTimeout.
bool is_passing(const HttpAnswer& answer, const S3Error& error);

/// For people: "503 SlowDown: Please reduce your request rate.".
std::string to_text(const HttpAnswer& answer, const S3Error& error);

/// Why the server turned the request away, and what to do.
Status status_of(const HttpAnswer& answer, const S3Error& error, const S3Settings& settings);

}  // namespace tamis
