#include "tree/run_iterator.h"

#include <algorithm>

namespace tamis {

void RunIterator::seek(EntryPosition target) {
  const auto ends_before = [&](const Bounds& part) { return part.largest < target.key; };
  const auto found = std::partition_point(parts_.begin(), parts_.end(), ends_before);
  if (found == parts_.end()) return show_end();
  enter(static_cast<std::size_t>(found - parts_.begin()));
  inside_->seek(target);
  show_from(Direction::kForwards);
}

void RunIterator::seek_backwards(EntryPosition target) {
  const auto begins_in_time = [&](const Bounds& part) { return part.smallest <= target.key; };
  const auto after = std::partition_point(parts_.begin(), parts_.end(), begins_in_time);
  if (after == parts_.begin()) return show_end();
  enter(static_cast<std::size_t>(after - parts_.begin()) - 1);
  inside_->seek_backwards(target);
  show_from(Direction::kBackwards);
}

void RunIterator::seek_to_first() {
  if (parts_.empty()) return show_end();
  enter(0);
  inside_->seek_to_first();
  show_from(Direction::kForwards);
}

void RunIterator::seek_to_last() {
  if (parts_.empty()) return show_end();
  enter(parts_.size() - 1);
  inside_->seek_to_last();
  show_from(Direction::kBackwards);
}

void RunIterator::next() {
  TAMIS_INVARIANT(valid());
  inside_->next();
  show_from(Direction::kForwards);
}

void RunIterator::previous() {
  TAMIS_INVARIANT(valid());
  inside_->previous();
  show_from(Direction::kBackwards);
}

void RunIterator::enter(std::size_t part) {
  if (inside_ != nullptr && at_ == part) return;
  inside_.reset();  // Before the next one is made: one part's buffers at a time.
  inside_ = open_(part);
  at_ = part;
}

void RunIterator::show_from(Direction direction) {
  while (!inside_->valid()) {
    if (!inside_->status().ok()) return show_error(inside_->status());
    if (direction == Direction::kForwards) {
      if (at_ + 1 == parts_.size()) return show_end();
      enter(at_ + 1);
      inside_->seek_to_first();
    } else {
      if (at_ == 0) return show_end();
      enter(at_ - 1);
      inside_->seek_to_last();
    }
  }
  show(inside_->entry());
}

}  // namespace tamis
