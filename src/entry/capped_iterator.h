// The entries up to a sequence.
#pragma once

#include <memory>
#include <utility>

#include "entry/entry_iterator.h"

namespace tamis {

/// Omits the entries that were written after `last`. A transaction puts it below its own writes, whose sequences begin
/// there.
///
/// Threads: as EntryIterator.
class CappedIterator final : public EntryIterator {
 public:
  CappedIterator(std::unique_ptr<EntryIterator> source, Sequence last) : last_(last), source_(std::move(source)) {}

  void seek(EntryPosition target) override {
    source_->seek(target);
    show_forwards();
  }
  void seek_backwards(EntryPosition target) override {
    source_->seek_backwards(target);
    show_backwards();
  }
  void seek_to_first() override {
    source_->seek_to_first();
    show_forwards();
  }
  void seek_to_last() override {
    source_->seek_to_last();
    show_backwards();
  }
  void next() override {
    TAMIS_INVARIANT(valid());
    source_->step();
    show_forwards();
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    source_->previous();
    show_backwards();
  }
  void prepare_seek(EntryPosition target) override { source_->prepare_seek(target); }

 private:
  void show_forwards() {
    while (source_->valid() && source_->entry().sequence > last_) source_->step();
    show_source();
  }
  void show_backwards() {
    while (source_->valid() && source_->entry().sequence > last_) source_->previous();
    show_source();
  }
  void show_source() {
    if (source_->valid()) return show(source_->entry());
    if (source_->status().ok()) return show_end();
    show_error(source_->status());
  }

  const Sequence last_;
  const std::unique_ptr<EntryIterator> source_;
};

}  // namespace tamis
