#include "object/s3_errors.h"

#include <fmt/core.h>

#include <cmath>

#include "object/xml_elements.h"

namespace tamis {
namespace {

std::string clock_text(double seconds_behind) {
  return fmt::format("this machine's clock is {:.0f} s {} the server's", std::abs(seconds_behind),
                     seconds_behind > 0 ? "behind" : "ahead of");
}

}  // namespace

S3Error read_s3_error(const HttpAnswer& answer) {
  S3Error error{.code = {}, .message = {}, .region = answer.bucket_region};
  const Result<std::vector<XmlElement>> elements = read_xml(answer.body);
  if (!elements.ok()) return error;
  error.code = xml_text(*elements, "Error/Code");
  error.message = xml_text(*elements, "Error/Message");
  if (error.region.empty()) error.region = xml_text(*elements, "Error/Region");
  return error;
}

bool is_passing(const HttpAnswer& answer, const S3Error& error) {
  switch (answer.status) {
    case 408:
    case 409:
    case 429: return true;
    case 501:
    case 507: return false;
    default: return answer.status >= 500 || error.code == "RequestTimeout";
  }
}

std::string to_text(const HttpAnswer& answer, const S3Error& error) {
  std::string text = std::to_string(answer.status);
  if (!error.code.empty()) text += " " + error.code;
  if (!error.message.empty()) text += ": " + error.message;
  return text;
}

Status status_of(const HttpAnswer& answer, const S3Error& error, const S3Settings& settings) {
  const std::string where = fmt::format("s3://{}", settings.bucket);
  const std::string said = to_text(answer, error);
  const auto is = [&](std::string_view code) { return error.code == code; };
  if (is("InvalidAccessKeyId")) {
    return Status::invalid_argument(
        fmt::format("{}: the server does not know the access key '{}' ({})", where, settings.access_key, said));
  }
  if (is("SignatureDoesNotMatch")) {
    return Status::invalid_argument(
        fmt::format("{}: the secret key is not that of '{}', or the region is not '{}' ({})", where,
                    settings.access_key, settings.region, said));
  }
  if (is("ExpiredToken") || is("InvalidToken") || is("TokenRefreshRequired")) {
    return Status::invalid_argument(fmt::format("{}: the session token is not valid any more ({})", where, said));
  }
  if (is("RequestTimeTooSkewed") || is("RequestExpired")) {
    return Status::invalid_argument(fmt::format("{}: {}; set it ({})", where, clock_text(answer.seconds_behind), said));
  }
  if (is("AuthorizationHeaderMalformed") || is("PermanentRedirect") || is("TemporaryRedirect") ||
      is("IllegalLocationConstraintException") || answer.status == 301 || answer.status == 307) {
    const std::string advice = error.region.empty() ? std::string("set AWS_REGION to the bucket's")
                                                    : fmt::format("set AWS_REGION={}", error.region);
    return Status::invalid_argument(
        fmt::format("{}: the bucket is not in region '{}'; {} ({})", where, settings.region, advice, said));
  }
  if (is("NoSuchBucket")) {
    return Status::io_error(
        fmt::format("{}: there is no such bucket; make it first, without versioning ({})", where, said));
  }
  if (is("QuotaExceeded") || is("XMinioStorageFull") || answer.status == 507) {
    return Status::out_of_space(fmt::format("{}: the bucket is full ({})", where, said));
  }
  if (answer.status == 501) {
    return Status::not_supported(fmt::format("{}: the server lacks something that tamis needs ({})", where, said));
  }
  if (is("AccessDenied") || answer.status == 403) {
    return Status::io_error(
        fmt::format("{}: '{}' has not the right to do this; it needs to read, write, list and remove objects ({})",
                    where, settings.access_key, said));
  }
  return Status::io_error(fmt::format("{}: {}", where, said));
}

}  // namespace tamis
