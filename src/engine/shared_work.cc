#include "engine/shared_work.h"

#include <algorithm>

namespace tamis {

void SharedWork::run(const std::vector<Piece>& pieces) {
  if (pieces.size() == 1) return pieces.front()();
  std::list<Offer>::iterator offer;
  {
    MutexLock lock(mutex_);
    offer = offers_.insert(offers_.end(), Offer{.pieces = &pieces});
  }
  changes_.announce();
  MutexLock lock(mutex_);
  while (offer->begun < pieces.size()) run_next(*offer);
  while (offer->done < pieces.size()) is_done_.wait(mutex_);
  offers_.erase(offer);
}

bool SharedWork::help() {
  MutexLock lock(mutex_);
  const auto open =
      std::ranges::find_if(offers_, [](const Offer& offer) { return offer.begun < offer.pieces->size(); });
  if (open == offers_.end()) return false;
  run_next(*open);
  return true;
}

void SharedWork::run_next(Offer& offer) {
  const Piece& piece = (*offer.pieces)[offer.begun++];
  mutex_.unlock();
  piece();
  mutex_.lock();
  if (++offer.done == offer.pieces->size()) is_done_.notify_all();
}

}  // namespace tamis
