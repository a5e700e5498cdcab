// Tells a transaction what its scans have read.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/read_set.h"
#include "entry/entry_iterator.h"
#include "entry/key_range.h"

namespace tamis {

/// Shows what its source shows, and adds every interval between two positions to the read set: the gaps too, because
/// the absence of keys was read (rule 40). Intervals are cut at the range of the scan.
///
/// Invariant: while valid, the key of entry() is in the interval of slot_, or outside the range.
///
/// Threads: as EntryIterator; not beside another user of the read set.
class TrackedIterator final : public EntryIterator {
 public:
  TrackedIterator(std::unique_ptr<EntryIterator> source, std::shared_ptr<ReadSet> reads, KeyspaceId keyspace,
                  KeyRange range)
      : source_(std::move(source)), reads_(std::move(reads)), keyspace_(keyspace), range_(std::move(range)) {}

  void seek(EntryPosition target) override {
    source_->seek(target);
    read_up_from(target.key);
  }
  void seek_backwards(EntryPosition target) override {
    source_->seek_backwards(target);
    // Before the newest possible version of a key is before the key.
    read_down_from(target.sequence == kMaxSequence ? std::string(target.key) : after_key(target.key));
  }
  void seek_to_first() override {
    source_->seek_to_first();
    read_up_from({});
  }
  void seek_to_last() override {
    source_->seek_to_last();
    read_down_from(std::nullopt);
  }
  void next() override {
    TAMIS_INVARIANT(valid());
    from_.assign(entry().key);
    source_->step();
    read_up_from(from_);
  }
  void previous() override {
    TAMIS_INVARIANT(valid());
    from_.assign(entry().key);
    source_->previous();
    read_down_from(after_key(from_));
  }
  void prepare_seek(EntryPosition target) override { source_->prepare_seek(target); }

 private:
  void read_up_from(std::string_view from) {
    if (source_->valid()) {
      add(from, after_key(source_->entry().key));
    } else {
      add(from, std::nullopt);
    }
    show_source();
  }
  void read_down_from(std::optional<std::string> to) {
    add(source_->valid() ? source_->entry().key : std::string_view(), std::move(to));
    show_source();
  }
  void add(std::string_view from, std::optional<std::string> to) {
    if (range_.begins_after(from)) from = range_.from;
    if (range_.to && (!to || *to > *range_.to)) to = range_.to;
    reads_->add_range(slot_, keyspace_, from, to ? std::optional<std::string_view>(*to) : std::nullopt);
  }
  void show_source() {
    if (source_->valid()) return show(source_->entry());
    if (source_->status().ok()) return show_end();
    show_error(source_->status());
  }

  const std::unique_ptr<EntryIterator> source_;
  const std::shared_ptr<ReadSet> reads_;
  const KeyspaceId keyspace_;
  const KeyRange range_;
  ReadSet::Slot slot_;
  std::string from_;
};

}  // namespace tamis
