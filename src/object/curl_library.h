// libcurl, opened when the first bucket is: programs that use none do not load it (docs/decisions/0075-buckets.md).
#pragma once

#include <curl/curl.h>

#include "tamis/status.h"

namespace tamis {

/// The functions of libcurl that we call.
///
/// Threads: any; a CURL handle belongs to one at a time.
struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_perform) easy_perform;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_getdate) getdate;

  /// The machine's library, opened once for the life of the process. kNotSupported if there is none, or one too old to
  /// sign requests for S3 (before 7.88).
  static Result<const CurlLibrary*> open();
};

}  // namespace tamis
