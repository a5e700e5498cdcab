#include "object/curl_library.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <string>

namespace tamis {
namespace {

constexpr unsigned kOldest =
    0x075800;  // 7.88, Debian 12's. CURLOPT_AWS_SIGV4 is older, and did not sign all headers at first.

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

Result<CurlLibrary> open_library() {
  void* library = nullptr;
  std::string why;
  for (const char* const name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
    if (why.empty()) why = ::dlerror();
  }
  if (library == nullptr) {
    return Status::not_supported(fmt::format("buckets need libcurl (Debian: libcurl4), which is not here: {}", why));
  }
  CurlLibrary curl{};
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  const bool has_all =
      find(library, "curl_easy_init", curl.easy_init) && find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
      find(library, "curl_easy_reset", curl.easy_reset) && find(library, "curl_easy_setopt", curl.easy_setopt) &&
      find(library, "curl_easy_getinfo", curl.easy_getinfo) && find(library, "curl_easy_perform", curl.easy_perform) &&
      find(library, "curl_easy_strerror", curl.easy_strerror) &&
      find(library, "curl_slist_append", curl.slist_append) &&
      find(library, "curl_slist_free_all", curl.slist_free_all) && find(library, "curl_getdate", curl.getdate) &&
      find(library, "curl_global_init", global_init) && find(library, "curl_version_info", version_info);
  if (!has_all || version_info(CURLVERSION_NOW)->version_num < kOldest) {
    return Status::not_supported("the libcurl of this machine is too old to sign requests; buckets need 7.88 or newer");
  }
  if (global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return Status::io_error("libcurl could not be initialised");
  return curl;
}

}  // namespace

Result<const CurlLibrary*> CurlLibrary::open() {
  static const Result<CurlLibrary> library = open_library();  // Never closed: it keeps state of its own.
  if (!library.ok()) return library.status();
  return &*library;
}

}  // namespace tamis
