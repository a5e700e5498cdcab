#include "support/memory_object_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"

namespace tamis::test {
namespace {

Status bad_name(std::string_view name) {
  return Status::invalid_argument(fmt::format("'{}' cannot be the name of an object", name));
}

/// As S3's: it names the content, so content that returns has its old etag again.
std::string etag_of(std::string_view bytes) { return fmt::format("\"{:016x}\"", std::hash<std::string_view>()(bytes)); }

RequestFate drawn(const RequestFates& fates, std::uint64_t of_hundred) {
  const std::pair<unsigned, RequestFate> parts[] = {{fates.lost_request, RequestFate::kLostRequest},
                                                    {fates.lost_answer, RequestFate::kLostAnswer},
                                                    {fates.delayed, RequestFate::kDelayed},
                                                    {fates.duplicated, RequestFate::kDuplicated},
                                                    {fates.truncated_body, RequestFate::kTruncatedBody}};
  for (const auto& [share, fate] : parts) {
    if (of_hundred < share) return fate;
    of_hundred -= share;
  }
  return RequestFate::kAnswered;
}

bool is_answered(RequestFate fate) { return fate == RequestFate::kAnswered || fate == RequestFate::kDuplicated; }

constexpr std::string_view kLost = "the network lost it";

}  // namespace

RequestFate MemoryObjectStore::fate_of(ObjectVerb verb, std::string_view name) {
  Scheduler scheduler;
  {
    const MutexLock lock(mutex_);
    ++requests_;
    if (!scheduler_) return drawn(fates_, random_.below(100));
    scheduler = scheduler_;
  }
  return scheduler({verb, std::string(name)});
}

Result<ObjectRead> MemoryObjectStore::get(std::string_view name, std::optional<ObjectRange> range,
                                          std::string_view if_changed) {
  if (!is_object_name(name)) return bad_name(name);
  ObjectRead read;
  if (!is_answered(fate_of(ObjectVerb::kGet, name))) {
    read.why = kLost;
    return read;
  }
  const MutexLock lock(mutex_);
  const auto found = objects_.find(name);
  if (found == objects_.end()) {
    read.answer = ObjectAnswer::kAbsent;
    return read;
  }
  const Object& object = found->second;
  if (object.etag == if_changed) {
    read.answer = ObjectAnswer::kRefused;
    return read;
  }
  const std::uint64_t size = object.bytes.size();
  read.answer = ObjectAnswer::kDone;
  if (range && range->offset >= size) return read;
  read.bytes = range ? object.bytes.substr(range->offset, range->bytes) : object.bytes;
  read.etag = object.etag;
  read.object_bytes = size;
  return read;
}

Result<ObjectWritten> MemoryObjectStore::put_new(std::string_view name, Bytes bytes) {
  return put_by(ObjectVerb::kPutNew, name, bytes, {});
}

Result<ObjectWritten> MemoryObjectStore::put_if(std::string_view name, Bytes bytes, std::string_view etag) {
  return put_by(ObjectVerb::kPutIf, name, bytes, etag);
}

Result<ObjectWritten> MemoryObjectStore::put(std::string_view name, Bytes bytes) {
  return put_by(ObjectVerb::kPut, name, bytes, {});
}

Result<ObjectWritten> MemoryObjectStore::put_by(ObjectVerb verb, std::string_view name, Bytes bytes,
                                                std::string_view etag) {
  if (!is_object_name(name)) return bad_name(name);
  return run({verb, std::string(name), std::string(as_text(bytes)), std::string(etag)});
}

Result<ObjectRemoved> MemoryObjectStore::remove(std::string_view name) {
  if (!is_object_name(name)) return bad_name(name);
  const ObjectWritten done = run({ObjectVerb::kRemove, std::string(name), {}, {}});
  return ObjectRemoved{.answer = done.answer, .why = done.why};
}

ObjectWritten MemoryObjectStore::run(Write write) {
  const RequestFate fate = fate_of(write.verb, write.name);
  const MutexLock lock(mutex_);
  ObjectWritten written;
  const bool arrives = fate != RequestFate::kLostRequest && fate != RequestFate::kDelayed;
  if (arrives) written = apply(write);
  if (!is_answered(fate)) written = {.answer = ObjectAnswer::kUnknown, .why = std::string(kLost)};
  if (fate == RequestFate::kDelayed || fate == RequestFate::kDuplicated) under_way_.push_back(std::move(write));
  return written;
}

ObjectWritten MemoryObjectStore::apply(const Write& write) {
  const auto found = objects_.find(write.name);
  const bool exists = found != objects_.end();
  if (write.verb == ObjectVerb::kRemove) {
    if (exists) objects_.erase(found);
    return {.answer = ObjectAnswer::kDone};
  }
  const bool holds = write.verb == ObjectVerb::kPut || (write.verb == ObjectVerb::kPutNew && !exists) ||
                     (write.verb == ObjectVerb::kPutIf && exists && found->second.etag == write.etag);
  if (!holds) return {.answer = ObjectAnswer::kRefused};
  Object& object = objects_[write.name];
  object = {.bytes = write.bytes, .etag = etag_of(write.bytes)};
  return {.answer = ObjectAnswer::kDone, .etag = object.etag, .why = {}};
}

Result<ObjectList> MemoryObjectStore::list(std::string_view prefix, std::string_view after) {
  ObjectList list;
  if (!is_answered(fate_of(ObjectVerb::kList, prefix))) {
    list.why = kLost;
    return list;
  }
  const MutexLock lock(mutex_);
  list.answer = ObjectAnswer::kDone;
  for (const auto& [name, object] : objects_) {
    if (name.starts_with(prefix) && name > after) list.objects.push_back({name, object.bytes.size(), object.etag});
  }
  return list;
}

std::size_t MemoryObjectStore::under_way() const {
  const MutexLock lock(mutex_);
  return under_way_.size();
}

void MemoryObjectStore::arrive(std::size_t index) {
  const MutexLock lock(mutex_);
  TAMIS_CHECK(index < under_way_.size());
  const auto at = under_way_.begin() + static_cast<std::ptrdiff_t>(index);
  const Write write = std::move(*at);
  under_way_.erase(at);
  apply(write);
}

void MemoryObjectStore::let_all_arrive() {
  for (std::size_t left = under_way(); left > 0; --left) {
    std::size_t next = 0;
    {
      const MutexLock lock(mutex_);
      next = random_.below(left);
    }
    arrive(next);
  }
}

void MemoryObjectStore::heal() {
  const MutexLock lock(mutex_);
  fates_ = {};
  scheduler_ = nullptr;
}

std::uint64_t MemoryObjectStore::requests() const {
  const MutexLock lock(mutex_);
  return requests_;
}

}  // namespace tamis::test
