#include "object/s3_object_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/try.h"
#include "object/s3_upload.h"
#include "object/xml_elements.h"

namespace tamis {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause{5'000};
constexpr std::uint64_t kLongestObject = std::uint64_t{1} << 30;  // Larger ones are read in ranges.
constexpr std::uint64_t kLongestPage = std::uint64_t{16} << 20;   // A list of 1,000 names.
constexpr std::uint64_t kMaxParts = 10'000;

Status bad_name(std::string_view name) {
  return Status::invalid_argument(fmt::format("'{}' cannot be the name of an object", name));
}

/// "bytes 100-199/5000": where the bytes begin, and how many the object has.
struct ContentRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t object_bytes = 0;
};

bool take_number(std::string_view& text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error == std::errc();
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<ContentRange> content_range(std::string_view text) {
  ContentRange range;
  const bool is_sound = take(text, "bytes ") && take_number(text, range.begin) && take(text, "-") &&
                        take_number(text, range.end) && take(text, "/") && take_number(text, range.object_bytes) &&
                        text.empty() && range.begin <= range.end && range.end < range.object_bytes;
  if (!is_sound) return std::nullopt;
  ++range.end;
  return range;
}

ObjectRead unknown_read(std::string why) {
  ObjectRead read;
  read.why = std::move(why);
  return read;
}

std::string_view without_quotes(std::string_view etag) {
  const bool is_quoted = etag.size() >= 2 && etag.front() == '"' && etag.back() == '"';
  return is_quoted ? etag.substr(1, etag.size() - 2) : etag;
}

}  // namespace

Result<std::unique_ptr<S3ObjectStore>> S3ObjectStore::open(const S3Settings& settings) {
  TAMIS_TRY(const CurlLibrary* const curl, CurlLibrary::open());
  return std::unique_ptr<S3ObjectStore>(new S3ObjectStore(*curl, settings));
}

S3ObjectStore::S3ObjectStore(const CurlLibrary& curl, const S3Settings& settings)
    : settings_(settings),
      bucket_url_(settings.bucket_url()),
      http_(curl, settings),
      random_(make_random_source(std::nullopt)) {}

std::string S3ObjectStore::key_of(std::string_view name) const {
  return settings_.prefix.empty() ? std::string(name) : fmt::format("{}/{}", settings_.prefix, name);
}

std::string S3ObjectStore::url_of(std::string_view name) const {
  return fmt::format("{}/{}", bucket_url_, uri_escaped(key_of(name), true));
}

/// Full jitter: between nothing and a limit that doubles with each attempt.
milliseconds S3ObjectStore::pause_before(unsigned attempt) {
  const milliseconds limit = std::min(kLongestPause, kFirstPause * (1U << std::min(attempt, 10U)));
  return milliseconds(fast_range(random_->next(), static_cast<std::uint64_t>(limit.count()) + 1));
}

Result<S3ObjectStore::Sent> S3ObjectStore::send(const HttpRequest& request) {
  const auto time_for = [&](std::uint64_t bytes) { return milliseconds(bytes * 1000 / settings_.bytes_per_second); };
  const milliseconds try_limit = settings_.try_limit + time_for(request.body.size() + request.answer_bytes);
  const auto end = steady_clock::now() + settings_.deadline + time_for(request.body.size());
  Sent sent;
  for (unsigned attempt = 0;; ++attempt) {
    HttpOutcome outcome = http_.send(request, try_limit, settings_.try_limit);
    if (outcome.kind == HttpOutcome::Kind::kImpossible) {
      return Status::io_error(fmt::format("{}: {}", bucket_url_, outcome.status.message()));
    }
    if (outcome.kind == HttpOutcome::Kind::kAnswered) {
      seconds_behind_ = outcome.answer.seconds_behind;
      if (outcome.answer.status >= 300) sent.error = read_s3_error(outcome.answer);
      if (outcome.answer.status < 300 || !is_passing(outcome.answer, sent.error)) {
        sent.answer = std::move(outcome.answer);
        return sent;
      }
      outcome.why = to_text(outcome.answer, sent.error);
    }
    sent.why = fmt::format("{}: {}", bucket_url_, outcome.why);
    const bool was_seen = outcome.kind != HttpOutcome::Kind::kNotSent;
    if (was_seen && request.once) return sent;
    sent.was_repeated |= was_seen;
    const milliseconds pause = pause_before(attempt);
    if (steady_clock::now() + pause >= end) return sent;
    std::this_thread::sleep_for(pause);
  }
}

Result<ObjectRead> S3ObjectStore::get(std::string_view name, std::optional<ObjectRange> range,
                                      std::string_view if_changed) {
  if (!is_object_name(name)) return bad_name(name);
  if (range && range->bytes == 0) return Status::invalid_argument("a range of no bytes cannot be asked for");
  HttpRequest request{.url = url_of(name), .answer_bytes = kLongestObject, .longest_answer = kLongestObject};
  if (range) {
    request.answer_bytes = range->bytes;
    request.longest_answer = std::max<std::uint64_t>(range->bytes, std::uint64_t{1} << 20);  // Errors are shorter.
    request.headers.push_back(fmt::format("Range: bytes={}-{}", range->offset, range->offset + range->bytes - 1));
  }
  if (!if_changed.empty()) request.headers.push_back(fmt::format("If-None-Match: {}", if_changed));
  TAMIS_TRY(Sent sent, send(request));
  if (!sent.answer) return unknown_read(std::move(sent.why));

  ObjectRead read;
  read.answer = ObjectAnswer::kDone;
  HttpAnswer& answer = *sent.answer;
  if (answer.status == 304 || answer.status == 412) {
    read.answer = ObjectAnswer::kRefused;
    return read;
  }
  if (answer.status == 404 && sent.error.code != "NoSuchBucket") {
    read.answer = ObjectAnswer::kAbsent;
    return read;
  }
  if (range && answer.status == 416) return read;  // It begins at or behind the end. Not all servers say where that is.
  if (range && answer.status == 200) {
    return Status::not_supported(fmt::format("{}: the server does not give ranges of objects", bucket_url_));
  }
  if (answer.status != (range ? 206 : 200)) return unexpected(sent);
  read.object_bytes = answer.body.size();
  if (range) {
    const std::optional<ContentRange> given = content_range(answer.content_range);
    const bool is_as_asked = given && given->begin == range->offset &&
                             given->end - given->begin == answer.body.size() &&
                             given->end == std::min(range->offset + range->bytes, given->object_bytes);
    if (!is_as_asked)
      return unknown_read(fmt::format("{}: a range of another kind: {}", request.url, answer.content_range));
    read.object_bytes = given->object_bytes;
  } else if (!answer.has_length) {
    return unknown_read(fmt::format("{}: an answer without its length may have been cut", request.url));
  }
  read.bytes = std::move(answer.body);
  read.etag = std::move(answer.etag);
  return read;
}

Result<ObjectWritten> S3ObjectStore::put_whole(std::string_view name, Bytes bytes, const std::string& condition) {
  if (!is_object_name(name)) return bad_name(name);
  HttpRequest request{.method = "PUT", .url = url_of(name), .body = bytes};
  request.once = !condition.empty();
  if (request.once) request.headers.push_back(condition);
  TAMIS_TRY(Sent sent, send(request));
  ObjectWritten written;
  if (!sent.answer) {
    written.why = std::move(sent.why);
    return written;
  }
  const bool is_refused = request.once && (sent.has(412) || (sent.has(404) && sent.error.code == "NoSuchKey"));
  if (is_refused) {
    written.answer = ObjectAnswer::kRefused;
    return written;
  }
  if (!sent.has(200)) return unexpected(sent);
  written.answer = ObjectAnswer::kDone;
  written.etag = std::move(sent.answer->etag);
  return written;
}

Result<ObjectWritten> S3ObjectStore::put_new(std::string_view name, Bytes bytes) {
  return put_whole(name, bytes, "If-None-Match: *");
}

Result<ObjectWritten> S3ObjectStore::put_if(std::string_view name, Bytes bytes, std::string_view etag) {
  const std::string_view bare = without_quotes(etag);
  if (bare.empty() || bare == "*") return Status::invalid_argument("put_if needs the etag of an answer");
  const std::string forms[] = {fmt::format("If-Match: \"{}\"", bare), fmt::format("If-Match: {}", bare)};
  const bool bare_first = wants_bare_etags_;
  TAMIS_TRY(ObjectWritten first, put_whole(name, bytes, forms[bare_first ? 1 : 0]));
  if (first.answer != ObjectAnswer::kRefused) return first;
  // Refused for its quotes, or because it is another: the other form tells. Whichever the server takes, the condition
  // is the same.
  TAMIS_TRY(ObjectWritten second, put_whole(name, bytes, forms[bare_first ? 0 : 1]));
  if (second.answer == ObjectAnswer::kDone) wants_bare_etags_ = !bare_first;
  return second;
}

Result<ObjectWritten> S3ObjectStore::put(std::string_view name, Bytes bytes) {
  if (bytes.size() <= settings_.whole_put_bytes) return put_whole(name, bytes, {});
  if (!is_object_name(name)) return bad_name(name);
  if (bytes.size() > settings_.part_bytes * kMaxParts) {
    return Status::invalid_argument(fmt::format("an object of {} bytes has too many parts", bytes.size()));
  }
  return S3Upload(*this, name).put(bytes);
}

Result<ObjectRemoved> S3ObjectStore::remove(std::string_view name) {
  if (!is_object_name(name)) return bad_name(name);
  TAMIS_TRY(Sent sent, send({.method = "DELETE", .url = url_of(name)}));
  ObjectRemoved removed;
  if (!sent.answer) {
    removed.why = std::move(sent.why);
    return removed;
  }
  const bool was_absent = sent.has(404) && sent.error.code != "NoSuchBucket";
  if (!sent.has(204) && !sent.has(200) && !was_absent) return unexpected(sent);
  removed.answer = ObjectAnswer::kDone;
  return removed;
}

Result<ObjectList> S3ObjectStore::list(std::string_view prefix, std::string_view after) {
  // In alphabetical order, each with its "=": libcurl signs them as they are.
  const std::string rest = fmt::format("list-type=2&max-keys=1000&prefix={}", uri_escaped(key_of(prefix), false));
  std::string query = after.empty() ? rest : fmt::format("{}&start-after={}", rest, uri_escaped(key_of(after), false));
  ObjectList list;
  while (true) {
    TAMIS_TRY(const std::optional<std::string> next, list_page(query, list));
    if (!next) return list;
    if (next->empty()) break;
    query = fmt::format("continuation-token={}&{}", uri_escaped(*next, false), rest);
  }
  std::erase_if(list.objects, [&](const ListedObject& object) { return object.name <= after; });
  std::ranges::sort(list.objects, {}, &ListedObject::name);
  list.answer = ObjectAnswer::kDone;
  return list;
}

/// Adds the objects of a page. Returns where the next page begins, "" after the last one; none if there was no answer.
Result<std::optional<std::string>> S3ObjectStore::list_page(const std::string& query, ObjectList& list) {
  HttpRequest request{
      .url = fmt::format("{}?{}", bucket_url_, query), .answer_bytes = kLongestPage, .longest_answer = kLongestPage};
  TAMIS_TRY(const Sent sent, send(request));
  if (!sent.answer) {
    list = {};
    list.why = sent.why;
    return std::optional<std::string>();
  }
  if (!sent.has(200)) return unexpected(sent);
  TAMIS_TRY(const std::vector<XmlElement> elements, read_xml(sent.answer->body));
  if (elements.back().path != "ListBucketResult") return unexpected(sent);
  const std::string start = key_of("");
  ListedObject object;
  for (const XmlElement& element : elements) {
    if (element.path == "ListBucketResult/Contents/Key") object.name = element.text;
    if (element.path == "ListBucketResult/Contents/ETag") object.etag = element.text;
    if (element.path == "ListBucketResult/Contents/Size") {
      std::string_view digits = element.text;
      if (!take_number(digits, object.bytes) || !digits.empty()) {
        return Status::io_error(fmt::format("{}: '{}' is not the size of an object", bucket_url_, element.text));
      }
    }
    if (element.path != "ListBucketResult/Contents") continue;
    // What is named as the prefix itself is a folder that some program made.
    if (object.name.starts_with(start) && object.name.size() > start.size()) {
      object.name.erase(0, start.size());
      list.objects.push_back(std::move(object));
    }
    object = {};
  }
  if (xml_text(elements, "ListBucketResult/IsTruncated") != "true") return std::optional<std::string>("");
  std::string next = xml_text(elements, "ListBucketResult/NextContinuationToken");
  if (next.empty()) return Status::io_error(fmt::format("{}: the server ends a list early", bucket_url_));
  return std::optional<std::string>(std::move(next));
}

Result<std::optional<bool>> S3ObjectStore::is_versioned() {
  TAMIS_TRY(const Sent sent, send({.url = bucket_url_ + "?versioning="}));
  if (!sent.answer || !sent.has(200)) return std::optional<bool>();
  TAMIS_TRY(const std::vector<XmlElement> elements, read_xml(sent.answer->body));
  return std::optional<bool>(!xml_text(elements, "VersioningConfiguration/Status").empty());
}

}  // namespace tamis
