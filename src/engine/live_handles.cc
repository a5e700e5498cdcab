#include "engine/live_handles.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "entry/drop_rule.h"

namespace tamis {

void LiveHandles::add(LiveHandle& handle) {
  MutexLock lock(mutex_);
  link(handle);
}

void LiveHandles::add_snapshot(LiveHandle& handle, const PublishedSequence& published, const ExpiryClock& expiry) {
  MutexLock lock(mutex_);
  handle.sequence = published.newest();
  handle.time = expiry.time_of_read();
  handle.drops = drops_;
  sequences_.insert(handle.sequence);
  link(handle);
}

void LiveHandles::add_followed(LiveHandle& handle, const ExpiryClock& expiry) {
  MutexLock lock(mutex_);
  handle.time = expiry.time_of_read();
  sequences_.insert(handle.sequence);
  link(handle);
}

std::uint64_t LiveHandles::drops() const {
  MutexLock lock(mutex_);
  return drops_;
}

void LiveHandles::link(LiveHandle& handle) {
  handle.before = newest_;
  (newest_ != nullptr ? newest_->after : oldest_) = &handle;
  newest_ = &handle;
  ++count_;
}

void LiveHandles::remove(LiveHandle& handle) {
  MutexLock lock(mutex_);
  if (handle.sequence != kMaxSequence) sequences_.erase(sequences_.find(handle.sequence));
  (handle.before != nullptr ? handle.before->after : oldest_) = handle.after;
  (handle.after != nullptr ? handle.after->before : newest_) = handle.before;
  --count_;
}

bool LiveHandles::empty() const {
  MutexLock lock(mutex_);
  return count_ == 0;
}

std::size_t LiveHandles::snapshots() const {
  MutexLock lock(mutex_);
  return sequences_.size();
}

std::optional<Sequence> LiveHandles::oldest_snapshot() const {
  MutexLock lock(mutex_);
  if (sequences_.empty()) return {};
  return *sequences_.begin();
}

LiveHandles::Readable LiveHandles::readable(const PublishedSequence& published, std::uint64_t horizon) const {
  MutexLock lock(mutex_);
  std::vector<Sequence> ascending(sequences_.begin(), sequences_.end());
  ascending.push_back(published.newest());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  std::vector<std::uint64_t> expired_by(ascending.size(), horizon);
  for (const LiveHandle* handle = oldest_; handle != nullptr; handle = handle->after) {
    if (handle->sequence == kMaxSequence) continue;
    std::uint64_t& time = expired_by[stripe_of(handle->sequence, ascending)];
    time = std::min(time, handle->time);
  }
  for (std::size_t i = expired_by.size(); i-- > 1;) expired_by[i - 1] = std::min(expired_by[i - 1], expired_by[i]);
  return {.sequences = std::move(ascending), .expired_by = std::move(expired_by)};
}

std::uint64_t LiveHandles::count_drop() {
  MutexLock lock(mutex_);
  return ++drops_;
}

std::optional<std::uint64_t> LiveHandles::drops_before_snapshots() const {
  MutexLock lock(mutex_);
  for (const LiveHandle* handle = oldest_; handle != nullptr; handle = handle->after) {
    if (handle->sequence != kMaxSequence) return handle->drops;
  }
  return {};
}

std::string LiveHandles::to_text() const {
  constexpr std::size_t kMaxNamed = 8;
  MutexLock lock(mutex_);
  std::string text;
  std::size_t named = 0;
  for (const LiveHandle* handle = oldest_; handle != nullptr; handle = handle->after) {
    if (named == kMaxNamed) return text + fmt::format(", and {} more", count_ - named);
    if (named++ > 0) text += ", ";
    text += fmt::format("{} made at {}", handle->kind, handle->caller.file);
    if (handle->caller.line != 0) text += fmt::format(":{}", handle->caller.line);
  }
  return text;
}

}  // namespace tamis
