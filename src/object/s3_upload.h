// An object put in parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "object/s3_object_store.h"

namespace tamis {

/// A multipart upload. Nothing is visible before it is complete; whatever ends it early also removes its parts, which
/// would be kept and paid for.
///
/// Threads: one at a time.
class S3Upload {
 public:
  S3Upload(S3ObjectStore& store, std::string_view name) : store_(store), name_(name), url_(store.url_of(name)) {}
  ~S3Upload();
  S3Upload(const S3Upload&) = delete;
  S3Upload& operator=(const S3Upload&) = delete;

  Result<ObjectWritten> put(Bytes bytes);

 private:
  using Sent = S3ObjectStore::Sent;
  Result<ObjectWritten> begin();
  Result<ObjectWritten> put_part(Bytes bytes);
  Result<ObjectWritten> complete(std::uint64_t object_bytes);

  S3ObjectStore& store_;
  const std::string name_;
  const std::string url_;
  std::string id_;                  ///< Escaped. Empty: nothing is begun.
  std::vector<std::string> etags_;  ///< Of the parts that were put.
};

}  // namespace tamis
