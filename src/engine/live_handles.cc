#include "engine/live_handles.h"

#include <fmt/core.h>

namespace tamis {

LiveHandles::Id LiveHandles::add_iterator(Caller caller) {
  MutexLock lock(mutex_);
  return handles_.insert(handles_.end(), {.kind = "iterator", .caller = caller});
}

LiveHandles::Id LiveHandles::add_snapshot(Caller caller, Sequence sequence) {
  MutexLock lock(mutex_);
  sequences_.insert(sequence);
  return handles_.insert(handles_.end(), {.kind = "snapshot", .caller = caller, .sequence = sequence});
}

void LiveHandles::remove(Id id) {
  MutexLock lock(mutex_);
  if (id->sequence != kMaxSequence) sequences_.erase(sequences_.find(id->sequence));
  handles_.erase(id);
}

bool LiveHandles::empty() const {
  MutexLock lock(mutex_);
  return handles_.empty();
}

std::size_t LiveHandles::snapshots() const {
  MutexLock lock(mutex_);
  return sequences_.size();
}

std::vector<Sequence> LiveHandles::sequences() const {
  MutexLock lock(mutex_);
  std::vector<Sequence> ascending;
  for (const Sequence sequence : sequences_) {
    if (ascending.empty() || ascending.back() != sequence) ascending.push_back(sequence);
  }
  return ascending;
}

std::string LiveHandles::to_text() const {
  constexpr std::size_t kMostNamed = 8;
  MutexLock lock(mutex_);
  std::string text;
  std::size_t named = 0;
  for (const Handle& handle : handles_) {
    if (named == kMostNamed) return text + fmt::format(", and {} more", handles_.size() - named);
    if (named++ > 0) text += ", ";
    text += fmt::format("{} made at {}:{}", handle.kind, handle.caller.file, handle.caller.line);
  }
  return text;
}

}  // namespace tamis
