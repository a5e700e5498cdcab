#include "object/http_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>

namespace tamis {
namespace {

constexpr long kConnectMilliseconds = 10'000;
constexpr long kStalledBytesPerSecond = 1'000;
constexpr std::size_t kMaxIdle = 64;

/// The body on its way to the server.
struct Upload {
  Bytes rest;
  Bytes whole;
  bool may_begin_again = true;
};

std::size_t read_body(char* to, std::size_t size, std::size_t count, void* context) {
  auto* const upload = static_cast<Upload*>(context);
  const std::size_t bytes = std::min(size * count, upload->rest.size());
  std::memcpy(to, upload->rest.data(), bytes);
  upload->rest = upload->rest.subspan(bytes);
  return bytes;
}

/// libcurl sends a body again when a kept connection was closed: the server may have done the first one.
int rewind_body(void* context, curl_off_t offset, int origin) {
  auto* const upload = static_cast<Upload*>(context);
  if (!upload->may_begin_again || origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  upload->rest = upload->whole.subspan(std::min(upload->whole.size(), static_cast<std::size_t>(offset)));
  return CURL_SEEKFUNC_OK;
}

/// The answer on its way to us.
struct Download {
  HttpAnswer answer;
  std::string date;
  std::uint64_t longest = 0;
  bool is_too_long = false;
};

std::size_t write_body(char* from, std::size_t size, std::size_t count, void* context) {
  auto* const download = static_cast<Download*>(context);
  download->is_too_long = download->answer.body.size() + size * count > download->longest;
  if (download->is_too_long) return 0;
  try {
    download->answer.body.append(from, size * count);
  } catch (const std::bad_alloc&) {
    return 0;
  }
  return size * count;
}

/// The value of a header line if it has this name, which is in lower case.
bool take_header(std::string_view line, std::string_view name, std::string& value) {
  if (line.size() <= name.size() || line[name.size()] != ':') return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (lower(line[i]) != name[i]) return false;
  }
  line.remove_prefix(name.size() + 1);
  const std::size_t begin = line.find_first_not_of(" \t");
  value = begin == std::string_view::npos ? std::string_view()
                                          : line.substr(begin, line.find_last_not_of(" \t\r\n") - begin + 1);
  return true;
}

std::size_t write_header(char* from, std::size_t size, std::size_t count, void* context) {
  auto* const download = static_cast<Download*>(context);
  const std::string_view line(from, size * count);
  HttpAnswer& answer = download->answer;
  if (line.starts_with("HTTP/")) {  // The answer proper follows "100 Continue".
    answer = {};
    download->date.clear();
  }
  std::string length;
  answer.has_length |= take_header(line, "content-length", length);
  take_header(line, "etag", answer.etag);
  take_header(line, "content-range", answer.content_range);
  take_header(line, "x-amz-bucket-region", answer.bucket_region);
  take_header(line, "date", download->date);
  return size * count;
}

/// Whether the certificate or our own settings are wrong, so that another try ends as this one.
bool is_hopeless(CURLcode code) {
  switch (code) {
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_NOT_BUILT_IN:
    case CURLE_UNKNOWN_OPTION: return true;
    default: return false;
  }
}

/// Whether no connection came about.
bool is_unsent(const CurlLibrary& curl, CURL* handle, CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR: return true;
    case CURLE_OPERATION_TIMEDOUT: {
      long sent = 1;
      curl.easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &sent);
      return sent == 0;
    }
    default: return false;
  }
}

/// Blocks SIGPIPE on this thread, and discards one that came: TLS libraries write to connections that the server has
/// closed, and the signal would end the program.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now = {0, 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

class HeaderList {
 public:
  explicit HeaderList(const CurlLibrary& curl) : curl_(curl) {}
  ~HeaderList() { curl_.slist_free_all(list_); }
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;

  void add(const std::string& line) {
    curl_slist* const longer = curl_.slist_append(list_, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    list_ = longer;
  }
  [[nodiscard]] curl_slist* get() const { return list_; }

 private:
  const CurlLibrary& curl_;
  curl_slist* list_ = nullptr;
};

}  // namespace

HttpClient::HttpClient(const CurlLibrary& curl, const S3Settings& settings)
    : curl_(curl),
      user_(fmt::format("{}:{}", settings.access_key, settings.secret_key)),
      signature_(fmt::format("aws:amz:{}:s3", settings.region)),
      session_token_(settings.session_token),
      ca_bundle_(settings.ca_bundle) {}

HttpClient::~HttpClient() {
  for (CURL* const handle : idle_) curl_.easy_cleanup(handle);
}

CURL* HttpClient::take_handle() {
  {
    const MutexLock lock(mutex_);
    if (!idle_.empty()) {
      CURL* const handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  CURL* const handle = curl_.easy_init();
  if (handle == nullptr) throw std::bad_alloc();
  return handle;
}

void HttpClient::give_back(CURL* handle) {
  curl_.easy_reset(handle);  // Keeps the connections.
  {
    const MutexLock lock(mutex_);
    if (idle_.size() < kMaxIdle) {
      idle_.push_back(handle);
      return;
    }
  }
  curl_.easy_cleanup(handle);
}

void HttpClient::set_options(CURL* handle, const HttpRequest& request) const {
  const auto set = [&](CURLoption option, auto value) { curl_.easy_setopt(handle, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  set(CURLOPT_USERPWD, user_.c_str());
  set(CURLOPT_AWS_SIGV4, signature_.c_str());
  if (!ca_bundle_.empty()) set(CURLOPT_CAINFO, ca_bundle_.c_str());
  set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1000L);
  set(CURLOPT_WRITEFUNCTION, write_body);
  set(CURLOPT_HEADERFUNCTION, write_header);
  const bool has_body = request.method[0] == 'P';
  if (has_body) {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_READFUNCTION, read_body);
    set(CURLOPT_SEEKFUNCTION, rewind_body);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    // Without a body there is nothing to rewind, and libcurl would send it again.
    if (request.once && request.body.empty()) set(CURLOPT_FRESH_CONNECT, 1L);
  }
  if (std::string_view(request.method) != "GET") set(CURLOPT_CUSTOMREQUEST, request.method);
}

HttpOutcome HttpClient::send(const HttpRequest& request, std::chrono::milliseconds limit,
                             std::chrono::milliseconds stall) {
  CURL* const handle = take_handle();
  HeaderList headers(curl_);
  headers.add("x-amz-content-sha256: UNSIGNED-PAYLOAD");
  if (!session_token_.empty()) headers.add("x-amz-security-token: " + session_token_);
  for (const std::string& line : request.headers) headers.add(line);
  Upload upload{.rest = request.body, .whole = request.body, .may_begin_again = !request.once};
  Download download{.answer = {}, .date = {}, .longest = request.longest_answer, .is_too_long = false};
  char said[CURL_ERROR_SIZE] = "";

  set_options(handle, request);
  curl_.easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(limit.count(), 1)));
  curl_.easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, kStalledBytesPerSecond);
  curl_.easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::max<std::int64_t>(stall.count() / 1000, 1)));
  curl_.easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get());
  curl_.easy_setopt(handle, CURLOPT_READDATA, &upload);
  curl_.easy_setopt(handle, CURLOPT_SEEKDATA, &upload);
  curl_.easy_setopt(handle, CURLOPT_WRITEDATA, &download);
  curl_.easy_setopt(handle, CURLOPT_HEADERDATA, &download);
  curl_.easy_setopt(handle, CURLOPT_ERRORBUFFER, said);
  const CURLcode code = [&] {
    const WithoutSigpipe no_signal;
    return curl_.easy_perform(handle);
  }();

  HttpOutcome outcome;
  curl_.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &download.answer.status);
  const bool unsent = is_unsent(curl_, handle, code);
  give_back(handle);
  if (code == CURLE_OK) {
    outcome.kind = HttpOutcome::Kind::kAnswered;
    outcome.answer = std::move(download.answer);
    const time_t server = download.date.empty() ? -1 : curl_.getdate(download.date.c_str(), nullptr);
    if (server > 0) outcome.answer.seconds_behind = static_cast<double>(server - ::time(nullptr));
    return outcome;
  }
  outcome.why = *said != '\0' ? said : curl_.easy_strerror(code);
  if (is_hopeless(code)) {
    outcome.kind = HttpOutcome::Kind::kImpossible;
    outcome.status = Status::io_error(outcome.why);
  } else if (download.is_too_long) {
    outcome.why = fmt::format("the answer is longer than {} bytes", request.longest_answer);
  } else if (unsent) {
    outcome.kind = HttpOutcome::Kind::kNotSent;
  }
  return outcome;
}

}  // namespace tamis
