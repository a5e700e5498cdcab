#include "object/s3_upload.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/try.h"
#include "object/xml_elements.h"

namespace tamis {
namespace {

ObjectWritten unknown(std::string why) { return {.answer = ObjectAnswer::kUnknown, .why = std::move(why)}; }

ObjectWritten done(std::string etag) { return {.answer = ObjectAnswer::kDone, .etag = std::move(etag), .why = {}}; }

}  // namespace

S3Upload::~S3Upload() {
  if (id_.empty()) return;
  const HttpRequest request{.method = "DELETE", .url = fmt::format("{}?uploadId={}", url_, id_)};
  (void)store_.send(request);
}

Result<ObjectWritten> S3Upload::put(Bytes bytes) {
  TAMIS_TRY(ObjectWritten begun, begin());
  if (begun.answer != ObjectAnswer::kDone) return begun;
  const std::uint64_t part_bytes = store_.settings().part_bytes;
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += part_bytes) {
    TAMIS_TRY(ObjectWritten part,
              put_part(bytes.subspan(offset, std::min<std::uint64_t>(part_bytes, bytes.size() - offset))));
    if (part.answer != ObjectAnswer::kDone) return part;
  }
  return complete(bytes.size());
}

Result<ObjectWritten> S3Upload::begin() {
  TAMIS_TRY(const Sent sent, store_.send({.method = "POST", .url = url_ + "?uploads="}));
  if (!sent.answer) return unknown(sent.why);
  if (!sent.has(200)) return store_.unexpected(sent);
  TAMIS_TRY(const std::vector<XmlElement> elements, read_xml(sent.answer->body));
  const std::string id = xml_text(elements, "InitiateMultipartUploadResult/UploadId");
  if (id.empty()) return Status::io_error(fmt::format("{}: the server began an upload without an id", url_));
  id_ = uri_escaped(id, false);
  return done({});
}

Result<ObjectWritten> S3Upload::put_part(Bytes bytes) {
  const std::string url = fmt::format("{}?partNumber={}&uploadId={}", url_, etags_.size() + 1, id_);
  TAMIS_TRY(const Sent sent, store_.send({.method = "PUT", .url = url, .body = bytes}));
  if (!sent.answer) return unknown(sent.why);
  if (!sent.has(200)) return store_.unexpected(sent);
  etags_.push_back(sent.answer->etag);
  return done({});
}

Result<ObjectWritten> S3Upload::complete(std::uint64_t object_bytes) {
  std::string parts = "<CompleteMultipartUpload>";
  for (std::size_t i = 0; i < etags_.size(); ++i) {
    parts += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, etags_[i]);
  }
  parts += "</CompleteMultipartUpload>";
  const std::string url = fmt::format("{}?uploadId={}", url_, id_);
  TAMIS_TRY(Sent sent, store_.send({.method = "POST", .url = url, .body = as_bytes(parts)}));
  if (sent.was_repeated && sent.has(404) && sent.error.code == "NoSuchUpload") {
    // An earlier try completed it, if the object is there.
    TAMIS_TRY(const ObjectRead there, store_.get(name_, ObjectRange{0, 1}, {}));
    if (there.answer != ObjectAnswer::kDone || there.object_bytes != object_bytes) return unknown(sent.error.message);
    id_.clear();
    return done(there.etag);
  }
  if (!sent.answer) return unknown(sent.why);
  if (!sent.has(200)) return store_.unexpected(sent);
  // The status was sent before the work was done: the body tells how it ended.
  TAMIS_TRY(const std::vector<XmlElement> elements, read_xml(sent.answer->body));
  if (elements.back().path != "CompleteMultipartUploadResult") {
    return unknown(to_text(*sent.answer, read_s3_error(*sent.answer)));
  }
  id_.clear();
  return done(xml_text(elements, "CompleteMultipartUploadResult/ETag"));
}

}  // namespace tamis
