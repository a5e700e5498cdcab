// Objects in memory, behind a network that tests control request by request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/sync.h"
#include "object/object_store.h"

namespace tamis::test {

enum class ObjectVerb : std::uint8_t { kGet, kPutNew, kPutIf, kPut, kList, kRemove };

/// What happens to one request.
enum class RequestFate : std::uint8_t {
  kAnswered,       ///< Done, and answered.
  kLostRequest,    ///< Never arrives: kUnknown.
  kLostAnswer,     ///< Done, but the answer is lost: kUnknown. A 500 although done looks the same.
  kDelayed,        ///< Answered with kUnknown; arrives when arrive() says so.
  kDuplicated,     ///< Done and answered; arrives once more when arrive() says so.
  kTruncatedBody,  ///< Of a get: the body ends early, which the client notices: kUnknown. Else as kLostAnswer.
};

/// How often each fate befalls a request, of a hundred; the rest are answered.
struct RequestFates {
  unsigned lost_request = 0;
  unsigned lost_answer = 0;
  unsigned delayed = 0;
  unsigned duplicated = 0;
  unsigned truncated_body = 0;
};

/// A request as a test sees it.
struct ObjectRequest {
  ObjectVerb verb = ObjectVerb::kGet;
  std::string name;  ///< Of a list: its prefix.
};

/// A bucket in memory. Every call is one request: nothing is repeated, so that a test sees each.
///
/// Invariants:
///  1. Strongly consistent: a request takes effect at one moment, whole.
///  2. Which fate befalls which request follows from the seed and the order of requests.
///  3. Delayed and duplicated requests take effect with their bytes and conditions as they were sent.
///
/// Threads: any.
class MemoryObjectStore final : public ObjectStore {
 public:
  /// Called with every request before it takes effect, without locks: may block, to let another thread go first, and
  /// says what befalls the request.
  using Scheduler = std::function<RequestFate(const ObjectRequest& request)>;

  /// Every request is answered.
  MemoryObjectStore() = default;
  /// Fates by chance.
  MemoryObjectStore(const RequestFates& fates, std::uint64_t seed) : fates_(fates), random_(seed) {}
  explicit MemoryObjectStore(Scheduler scheduler) : scheduler_(std::move(scheduler)) {}

  using ObjectStore::get;
  Result<ObjectRead> get(std::string_view name, std::optional<ObjectRange> range, std::string_view if_changed) override;
  Result<ObjectWritten> put_new(std::string_view name, Bytes bytes) override;
  Result<ObjectWritten> put_if(std::string_view name, Bytes bytes, std::string_view etag) override;
  Result<ObjectWritten> put(std::string_view name, Bytes bytes) override;
  Result<ObjectList> list(std::string_view prefix, std::string_view after) override;
  Result<ObjectRemoved> remove(std::string_view name) override;

  /// How many delayed and duplicated requests are under way.
  [[nodiscard]] std::size_t under_way() const;
  /// One of them arrives: number `index`, below under_way(). Nobody learns the answer.
  void arrive(std::size_t index);
  /// All of them, in an order by the seed.
  void let_all_arrive();
  /// From now on every request is answered. What is under way stays so.
  void heal();

  [[nodiscard]] std::uint64_t requests() const;

 private:
  struct Object {
    std::string bytes;
    std::string etag;
  };
  struct Write {
    ObjectVerb verb;
    std::string name;
    std::string bytes;
    std::string etag;  ///< The condition of a put_if.
  };

  RequestFate fate_of(ObjectVerb verb, std::string_view name);
  Result<ObjectWritten> put_by(ObjectVerb verb, std::string_view name, Bytes bytes, std::string_view etag);
  ObjectWritten run(Write write);
  ObjectWritten apply(const Write& write) REQUIRES(mutex_);

  mutable Mutex mutex_;
  Scheduler scheduler_ GUARDED_BY(mutex_);
  RequestFates fates_ GUARDED_BY(mutex_);
  std::map<std::string, Object, std::less<>> objects_ GUARDED_BY(mutex_);
  std::vector<Write> under_way_ GUARDED_BY(mutex_);
  SplitMix64 random_ GUARDED_BY(mutex_) = SplitMix64(0);
  std::uint64_t requests_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis::test
