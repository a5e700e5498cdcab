// The tables of a run, walked as one.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "entry/entry_iterator.h"

namespace tamis {

/// Walks over parts that stand in key order and do not overlap. Which part a key belongs to is known from the bounds,
/// so only the part it stands in is open, and a part it does not come to is never opened.
///
/// Threads: as EntryIterator.
class RunIterator final : public EntryIterator {
 public:
  /// The keys of a part, both inclusive. They must outlive the iterator.
  struct Bounds {
    std::string_view smallest;
    std::string_view largest;
  };
  /// Makes the iterator over one part; not null.
  using OpenPart = std::function<std::unique_ptr<EntryIterator>(std::size_t part)>;

  RunIterator(std::vector<Bounds> parts, OpenPart open) : parts_(std::move(parts)), open_(std::move(open)) {}

  void seek(EntryPosition target) override;
  void seek_backwards(EntryPosition target) override;
  void seek_to_first() override;
  void seek_to_last() override;
  void next() override;
  void previous() override;

 private:
  void enter(std::size_t part);
  /// Shows where the open part stands; from beyond its end goes on in the parts after it, or before it.
  void show_from(Direction direction);

  std::vector<Bounds> parts_;
  OpenPart open_;
  std::unique_ptr<EntryIterator> inside_;  // Of part at_; null before the first seek.
  std::size_t at_ = 0;
};

}  // namespace tamis
