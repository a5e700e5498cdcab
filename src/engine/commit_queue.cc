#include "engine/commit_queue.h"

#include "base/check.h"

namespace tamis {

Status CommitQueue::commit(CommitRequest& request, GroupLeader& leader) {
  {
    MutexLock lock(mutex_);
    waiting_.push_back(&request);
    while (!request.is_done && waiting_.front() != &request) changed_.wait(mutex_);
    if (request.is_done) return std::move(request.status);
    form_group();
  }
  leader.lead(group_);
  MutexLock lock(mutex_);
  for (CommitRequest* done : group_) {
    TAMIS_CHECK(waiting_.front() == done);
    waiting_.pop_front();
    done->is_done = true;
  }
  const bool others_wait = group_.size() > 1 || !waiting_.empty();
  group_.clear();
  if (others_wait) changed_.notify_all();
  return std::move(request.status);
}

void CommitQueue::form_group() {
  std::size_t bytes = 0;
  for (CommitRequest* request : waiting_) {
    const std::size_t more = request->batch != nullptr ? request->batch->byte_size() : 0;
    if (!group_.empty() && (request->seals || request->resumes || bytes + more > kGroupBytes)) break;
    group_.push_back(request);
    bytes += more;
    if (request->seals) break;
  }
}

}  // namespace tamis
