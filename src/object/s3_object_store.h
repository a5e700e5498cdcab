// Objects in a bucket of a server that speaks the S3 API: AWS, Ceph's radosgw, MinIO and others.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random_source.h"
#include "object/http_client.h"
#include "object/object_store.h"
#include "object/s3_errors.h"
#include "object/s3_settings.h"

namespace tamis {

/// ObjectStore by HTTP. A request that fails in passing (no connection, no answer, 5xx) is sent again after a random
/// pause that doubles on average, until the deadline; conditional puts only if the server has not seen them. So an
/// answer to a conditional put is that of its only try.
///
/// A put of more than S3Settings::whole_put_bytes is sent in parts, which become an object at the end. Conditional puts
/// are always whole: servers ignore conditions on parts.
///
/// Invariants: the answer to a get has as many bytes as the server says that it has.
///
/// Threads: any. As many requests are under way as threads call.
class S3ObjectStore final : public ObjectStore {
 public:
  /// kNotSupported without libcurl. Connects to nothing.
  static Result<std::unique_ptr<S3ObjectStore>> open(const S3Settings& settings);

  using ObjectStore::get;
  Result<ObjectRead> get(std::string_view name, std::optional<ObjectRange> range, std::string_view if_changed) override;
  Result<ObjectWritten> put_new(std::string_view name, Bytes bytes) override;
  Result<ObjectWritten> put_if(std::string_view name, Bytes bytes, std::string_view etag) override;
  Result<ObjectWritten> put(std::string_view name, Bytes bytes) override;
  Result<ObjectList> list(std::string_view prefix, std::string_view after) override;
  Result<ObjectRemoved> remove(std::string_view name) override;

  /// Whether the bucket keeps or kept old versions of its objects. Its conditional puts cannot be relied on then.
  /// nullopt if the server does not say.
  Result<std::optional<bool>> is_versioned();
  /// How far this machine's clock was behind the server's at the last answer.
  [[nodiscard]] double seconds_behind() const { return seconds_behind_; }
  [[nodiscard]] const S3Settings& settings() const { return settings_; }

 private:
  friend class S3Upload;
  /// The answer to one request after all its tries; none: `why`.
  struct Sent {
    std::optional<HttpAnswer> answer;
    S3Error error;  ///< If the answer is one.
    std::string why;
    bool was_repeated = false;  ///< An earlier try may have been done.

    [[nodiscard]] bool has(long status) const { return answer && answer->status == status; }
  };

  S3ObjectStore(const CurlLibrary& curl, const S3Settings& settings);
  Result<Sent> send(const HttpRequest& request);
  [[nodiscard]] std::string url_of(std::string_view name) const;
  [[nodiscard]] std::string key_of(std::string_view name) const;
  [[nodiscard]] Status unexpected(const Sent& sent) const { return status_of(*sent.answer, sent.error, settings_); }
  Result<ObjectWritten> put_whole(std::string_view name, Bytes bytes, const std::string& condition);
  Result<std::optional<std::string>> list_page(const std::string& query, ObjectList& list);
  std::chrono::milliseconds pause_before(unsigned attempt);

  const S3Settings settings_;
  const std::string bucket_url_;
  HttpClient http_;
  const std::unique_ptr<RandomSource> random_;
  std::atomic<double> seconds_behind_ = 0;
  /// Whether the server takes the etag of If-Match without quotes: radosgw takes no other. Learnt from the first put_if
  /// that is done; a wrong value costs a request.
  std::atomic<bool> wants_bare_etags_ = false;
};

}  // namespace tamis
