// check_bucket and its report.
#include "tamis/bucket.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/try.h"
#include "object/bucket_questions.h"
#include "text/json.h"
#if TAMIS_HAS_S3
#include "io/posix_file_system.h"
#include "object/s3_object_store.h"
#endif

namespace tamis {

#if TAMIS_HAS_S3
namespace {

constexpr std::chrono::seconds kPatience{15};
constexpr double kClockSeconds = 60;  // Servers turn requests away at 900.

void add_answer(BucketReport& report, std::string_view what, bool is_yes, bool needed, std::string why) {
  report.answers.push_back({std::string(what), is_yes, needed, is_yes ? std::string() : std::move(why)});
}

}  // namespace

Result<BucketReport> check_bucket(const std::string& url, const BucketOptions& options) {
  TAMIS_TRY(S3Settings settings, read_s3_settings(url, options.endpoint, process_environment(), posix_file_system()));
  settings.whole_put_bytes = settings.part_bytes = std::uint64_t{5} << 20;  // To see parts with few bytes.
  settings.deadline = kPatience;
  TAMIS_TRY(const std::unique_ptr<S3ObjectStore> objects, S3ObjectStore::open(settings));
  // First, because removing leaves the old versions there.
  TAMIS_TRY(const std::optional<bool> is_versioned, objects->is_versioned());
  BucketReport report;
  if (is_versioned != true) {
    TAMIS_TRY(report, ask_bucket(*objects));
  }
  report.url = url;
  report.endpoint = settings.endpoint.empty() ? settings.bucket_url() : settings.endpoint;
  report.region = settings.region;
  report.clock_behind_seconds = objects->seconds_behind();
  add_answer(report, "keeps no old versions", is_versioned != true, true,
             "its conditions cannot be relied on; nothing else was asked, use another bucket");
  add_answer(report, "lets us ask whether it keeps versions", is_versioned.has_value(), false,
             "no right to s3:GetBucketVersioning");
  add_answer(report, "has the same time as this machine", std::abs(report.clock_behind_seconds) < kClockSeconds, false,
             fmt::format("this machine is {:.0f} s {}", std::abs(report.clock_behind_seconds),
                         report.clock_behind_seconds > 0 ? "behind" : "ahead"));
  add_answer(report, "is asked over an encrypted connection", settings.bucket_url().starts_with("https:"), false,
             "the endpoint is http://");
  return report;
}
#else
Result<BucketReport> check_bucket(const std::string& url, const BucketOptions&) {
  return Status::not_supported(
      fmt::format("{}: this build of tamis has no buckets; build it with libcurl's headers", url));
}
#endif

bool BucketReport::ok() const {
  return std::ranges::all_of(answers, [](const Answer& answer) { return answer.is_yes || !answer.needed; });
}

std::string BucketReport::to_text() const {
  std::string text = fmt::format("{} at {}, region {}\n", url, endpoint, region);
  std::size_t missing = 0;
  for (const Answer& answer : answers) {
    text += fmt::format("{:<4} {}", answer.is_yes ? "yes" : "NO", answer.what);
    if (!answer.why.empty()) text += fmt::format(" ({}{})", answer.needed ? "" : "not needed; ", answer.why);
    text += '\n';
    missing += !answer.is_yes && answer.needed ? 1 : 0;
  }
  for (const Latency& latency : latencies) {
    text += fmt::format("{:<30} {:>8.1f} ms, the slowest of {} {:.1f} ms\n", latency.request, latency.median_ms,
                        latency.count, latency.slowest_ms);
  }
  return text + (missing == 0
                     ? std::string("ok: everything needed is there\n")
                     : fmt::format("{} needed {} missing\n", missing, missing == 1 ? "answer is" : "answers are"));
}

std::string BucketReport::to_json() const {
  return JsonObject()
      .add("ok", ok())
      .add("url", url)
      .add("endpoint", endpoint)
      .add("region", region)
      .add("clock_behind_seconds", clock_behind_seconds)
      .add_list("answers", answers,
                [](const Answer& answer) {
                  return JsonObject()
                      .add("what", answer.what)
                      .add("yes", answer.is_yes)
                      .add("needed", answer.needed)
                      .add("why", answer.why);
                })
      .add_list("latencies", latencies,
                [](const Latency& latency) {
                  return JsonObject()
                      .add("request", latency.request)
                      .add("count", latency.count)
                      .add("median_ms", latency.median_ms)
                      .add("slowest_ms", latency.slowest_ms);
                })
      .text();
}

}  // namespace tamis
