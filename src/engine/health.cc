#include "engine/health.h"

#include <string>

namespace tamis {

void Health::stop_writes(const Status& why) {
  {
    MutexLock lock(mutex_);
    if (stop_) return;
    stop_ = Stop{.why = why, .resumes_by_itself = why.code() == StatusCode::kOutOfSpace};
    has_stopped_.store(true, std::memory_order_release);
  }
  changes_.announce();
  context_.tell(StoreEvent::Kind::kBackgroundError, why.message());
}

void Health::resume_writes() {
  {
    MutexLock lock(mutex_);
    stop_.reset();
    has_stopped_.store(false, std::memory_order_release);
    failed_rewrites_ = 0;
  }
  changes_.announce();
  context_.tell(StoreEvent::Kind::kResumed, "writes go on");
}

std::optional<Health::Stop> Health::stop() const {
  MutexLock lock(mutex_);
  return stop_;
}

Status Health::check_working() const {
  {
    MutexLock lock(mutex_);
    if (stop_) return stop_->why;
  }
  if (is_closing()) return Status::closed(context_.directory + ": the store is being closed");
  return {};
}

void Health::begin_closing() {
  is_closing_ = true;
  changes_.announce();
}

void Health::rewrite_failed(std::string_view what, const Status& why) {
  const bool is_lasting = why.code() == StatusCode::kOutOfSpace || why.code() == StatusCode::kCorruption;
  if (++failed_rewrites_ < kMaxFailures && !is_lasting) return;
  stop_writes({why.code(), std::string(what) + ": " + std::string(why.message())});
}

}  // namespace tamis
