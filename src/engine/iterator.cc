#include "tamis/iterator.h"

#include <utility>

#include "base/check.h"
#include "engine/iterator_state.h"
#include "engine/never_throws.h"
#include "entry/merging_iterator.h"

namespace tamis {

void IteratorState::walk_over(KeyRange range, std::string_view prefix, bool fills_cache) {
  std::vector<std::unique_ptr<EntryIterator>> runs;
  for (const std::shared_ptr<Memtable>& memtable : memtables_) runs.push_back(memtable->iterate());
  version_->iterate(range, prefix, fills_cache, runs);
  walk_.emplace(make_merging_iterator(std::move(runs)), sequence_, std::move(range));
}

Iterator::Iterator(std::unique_ptr<IteratorState> state) : state_(std::move(state)) {}
Iterator::Iterator(Iterator&&) noexcept = default;
Iterator& Iterator::operator=(Iterator&& other) noexcept {
  Iterator taken(std::move(other));
  std::swap(state_, taken.state_);
  return *this;
}
Iterator::~Iterator() {
  if (state_ != nullptr && state_->is_of_another_process()) leave_to_parent(std::move(state_));
}

bool Iterator::valid() const { return state_->walk() != nullptr && state_->walk()->valid(); }
std::string_view Iterator::key() const {
  TAMIS_CHECK(valid());
  return state_->walk()->key();
}
std::string_view Iterator::value() const {
  TAMIS_CHECK(valid());
  return state_->walk()->value();
}
const Status& Iterator::status() const { return state_->status(); }

void Iterator::next() {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->next();
  });
}
void Iterator::previous() {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->previous();
  });
}
void Iterator::seek(std::string_view key) {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->seek(key);
  });
}
void Iterator::seek_before(std::string_view key) {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->seek_before(key);
  });
}
void Iterator::seek_to_first() {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->seek_to_first();
  });
}
void Iterator::seek_to_last() {
  never_throws([&] {
    if (state_->may_move()) state_->walk()->seek_to_last();
  });
}

}  // namespace tamis
