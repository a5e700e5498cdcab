#include "object/bucket_questions.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/random_source.h"
#include "base/sync.h"
#include "base/try.h"

namespace tamis {
namespace {

using std::chrono::steady_clock;

constexpr int kRacers = 6;
constexpr int kRaces = 5;
constexpr int kTimedRequests = 20;
constexpr std::size_t kSmallBytes = 4096;
constexpr std::size_t kLargeBytes = (std::size_t{5} << 20) + 1024;  // The smallest that has two parts.

std::string random_bytes(SplitMix64& random, std::size_t count) {
  std::string bytes;
  while (bytes.size() < count) append_le(bytes, random.next());
  bytes.resize(count);
  return bytes;
}

/// One series of questions under a name of its own.
class Questions {
 public:
  explicit Questions(ObjectStore& objects)
      : objects_(objects),
        random_(make_random_source(std::nullopt)->next()),
        folder_(fmt::format("tamis-check-{:016x}", random_.next())),
        one_(random_bytes(random_, kSmallBytes)),
        two_(random_bytes(random_, kSmallBytes)) {}

  Status ask_all() {
    // Without an answer to this one there is nothing to report.
    TAMIS_TRY(const ObjectWritten first, objects_.put(name("object"), as_bytes(one_)));
    names_.insert(name("object"));
    if (first.answer == ObjectAnswer::kUnknown) return Status::io_error("no answer: " + first.why);
    report_.answers.push_back({.what = "takes an object", .is_yes = true, .needed = true, .why = {}});
    ask_to_read(first.etag);
    ask_to_write_on_conditions();
    ask_racing_writers();
    ask_for_parts();
    ask_to_list();
    if (report_.ok()) measure();
    return {};
  }

  /// The last question: removes everything.
  void ask_to_remove() {
    std::string why;
    for (const std::string& name : names_) {
      const Result<ObjectRemoved> removed = objects_.remove(name);
      if (!removed.ok()) why = removed.status().message();
      if (removed.ok() && removed->answer != ObjectAnswer::kDone) why = removed->why;
    }
    const Result<ObjectRead> read = objects_.get(name("object"));
    if (why.empty() && read.ok() && read->answer != ObjectAnswer::kAbsent) why = "the object is still there";
    answer("removes objects", why);
  }

  [[nodiscard]] BucketReport& report() { return report_; }

 private:
  [[nodiscard]] std::string name(std::string_view part) const { return fmt::format("{}/{}", folder_, part); }

  /// `why_not` is empty if the answer is yes.
  void answer(std::string_view what, std::string why_not, bool needed = true) {
    report_.answers.push_back({std::string(what), why_not.empty(), needed, std::move(why_not)});
  }

  /// Why a write did not end as expected; empty if it did.
  template <typename Answered>
  static std::string not_as(ObjectAnswer expected, const Result<Answered>& answered) {
    if (!answered.ok()) return std::string(answered.status().message());
    if (answered->answer == expected) return {};
    return answered->why.empty() ? std::string(to_string(answered->answer)) : answered->why;
  }

  /// Why the object does not have these bytes; empty if it does.
  std::string not_content(const std::string& object, std::string_view bytes) {
    const Result<ObjectRead> read = objects_.get(object);
    std::string why = not_as(ObjectAnswer::kDone, read);
    if (why.empty() && read->bytes != bytes) why = "it has other bytes";
    return why;
  }

  void ask_to_read(const std::string& etag) {
    answer("gives it back byte for byte", not_content(name("object"), one_));
    const Result<ObjectRead> range = objects_.get(name("object"), ObjectRange{100, 50}, {});
    std::string why = not_as(ObjectAnswer::kDone, range);
    if (why.empty() && range->bytes != std::string_view(one_).substr(100, 50)) why = "it gives other bytes";
    answer("gives a range of it", why);
    answer("says that an object is not there", not_as(ObjectAnswer::kAbsent, objects_.get(name("none"))));
    answer("sends nothing to who has it already",
           not_as(ObjectAnswer::kRefused, objects_.get(name("object"), std::nullopt, etag)), false);
  }

  Result<ObjectWritten> put_new(const std::string& object, std::string_view bytes) {
    names_.insert(object);
    return objects_.put_new(object, as_bytes(bytes));
  }

  /// The condition must have held nobody up and nothing may have changed.
  std::string not_left_alone(const Result<ObjectWritten>& written, const std::string& object, std::string_view bytes) {
    const std::string why = not_as(ObjectAnswer::kRefused, written);
    return why.empty() ? not_content(object, bytes) : why;
  }

  void ask_to_write_on_conditions() {
    const std::string object = name("conditional");
    const Result<ObjectWritten> made = put_new(object, one_);
    answer("writes a new object if there is none", not_as(ObjectAnswer::kDone, made));
    answer("leaves an existing object alone", not_left_alone(put_new(object, two_), object, one_));
    const std::string etag = made.ok() ? made->etag : std::string();
    const Result<ObjectWritten> replaced = objects_.put_if(object, as_bytes(two_), etag);
    std::string why = not_as(ObjectAnswer::kDone, replaced);
    if (why.empty()) why = not_content(object, two_);
    answer("replaces an object by its ETag", why);
    answer("leaves an object with another ETag alone",
           not_left_alone(objects_.put_if(object, as_bytes(one_), etag), object, two_));
    answer("makes no object if one was to be replaced",
           not_as(ObjectAnswer::kRefused, objects_.put_if(name("none"), as_bytes(one_), etag)));
  }

  /// Several writers at once: what went wrong, or nothing. An unknown outcome is settled by who can be read.
  std::string race(const std::function<Result<ObjectWritten>(const std::string& bytes)>& write,
                   const std::string& object) {
    Mutex mutex;
    std::set<std::string> done;
    std::set<std::string> unknown;
    std::vector<std::thread> threads;
    threads.reserve(kRacers);
    for (int i = 0; i < kRacers; ++i) {
      threads.emplace_back([&, bytes = random_bytes(random_, 64)] {
        const Result<ObjectWritten> written = write(bytes);
        const MutexLock lock(mutex);
        if (!written.ok() || written->answer == ObjectAnswer::kUnknown) unknown.insert(bytes);
        if (written.ok() && written->answer == ObjectAnswer::kDone) done.insert(bytes);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const Result<ObjectRead> read = objects_.get(object);
    std::string why = not_as(ObjectAnswer::kDone, read);
    if (!why.empty()) return why;
    if (done.size() > 1) return fmt::format("{} of {} writers at once were told that they had", done.size(), kRacers);
    const bool is_settled = done.contains(read->bytes) || (done.empty() && unknown.contains(read->bytes));
    return is_settled ? std::string() : "the object is not that of the writer who was told so";
  }

  void ask_racing_writers() {
    std::string new_race;
    std::string etag_race;
    for (int i = 0; i < kRaces && new_race.empty() && etag_race.empty(); ++i) {
      const std::string object = name(fmt::format("race-{}", i));
      names_.insert(object);
      new_race = race([&](const std::string& bytes) { return objects_.put_new(object, as_bytes(bytes)); }, object);
      const Result<ObjectRead> before = objects_.get(object);
      if (!before.ok() || before->answer != ObjectAnswer::kDone) continue;
      etag_race = race([&](const std::string& bytes) { return objects_.put_if(object, as_bytes(bytes), before->etag); },
                       object);
    }
    answer("lets one of several writers make an object", new_race);
    answer("lets one of several writers replace an object", etag_race);
  }

  void ask_for_parts() {
    const std::string bytes = random_bytes(random_, kLargeBytes);
    const std::string object = name("parts");
    names_.insert(object);
    const std::string why = not_as(ObjectAnswer::kDone, objects_.put(object, as_bytes(bytes)));
    answer("takes an object in parts", why.empty() ? not_content(object, bytes) : why);
  }

  void ask_to_list() {
    const Result<ObjectList> list = objects_.list(name(""), {});
    std::string why = not_as(ObjectAnswer::kDone, list);
    if (why.empty()) {
      std::set<std::string> listed;
      for (const ListedObject& object : list->objects) listed.insert(object.name);
      if (listed != names_) why = fmt::format("it lists {} of {} objects", listed.size(), names_.size());
    }
    answer("lists what was just written", why);
  }

  void time(std::string_view request, const std::function<ObjectAnswer(int)>& send) {
    std::vector<double> milliseconds;
    for (int i = 0; i < kTimedRequests; ++i) {
      const auto begin = steady_clock::now();
      if (send(i) != ObjectAnswer::kDone) return;
      milliseconds.push_back(std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count());
    }
    std::ranges::sort(milliseconds);
    report_.latencies.push_back({.request = std::string(request),
                                 .count = milliseconds.size(),
                                 .median_ms = milliseconds[milliseconds.size() / 2],
                                 .slowest_ms = milliseconds.back()});
  }

  void measure() {
    const auto answer_of = [](const auto& answered) {
      return answered.ok() ? answered->answer : ObjectAnswer::kUnknown;
    };
    time("PUT of 4 KiB", [&](int) { return answer_of(objects_.put(name("object"), as_bytes(one_))); });
    time("PUT of 4 KiB if there is none",
         [&](int i) { return answer_of(put_new(name(fmt::format("timed-{}", i)), one_)); });
    time("GET of 4 KiB", [&](int) { return answer_of(objects_.get(name("object"), ObjectRange{0, kSmallBytes}, {})); });
    time("GET of nothing", [&](int) {
      return answer_of(objects_.get(name("none"))) == ObjectAnswer::kAbsent ? ObjectAnswer::kDone
                                                                            : ObjectAnswer::kUnknown;
    });
  }

  ObjectStore& objects_;
  SplitMix64 random_;  ///< Names and contents that nobody else writes.
  const std::string folder_;
  const std::string one_;
  const std::string two_;
  std::set<std::string> names_;  ///< Of all objects that may have been written.
  BucketReport report_;
};

}  // namespace

Result<BucketReport> ask_bucket(ObjectStore& objects) {
  Questions questions(objects);
  TAMIS_TRY_STATUS(questions.ask_all());
  questions.ask_to_remove();
  return std::move(questions.report());
}

}  // namespace tamis
