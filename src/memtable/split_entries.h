// A part of a memtable's entries.
#pragma once

#include <memory>

#include "entry/entry_iterator.h"

namespace tamis {

struct SplitEntries {
  std::unique_ptr<EntryIterator> iterator;
  Sequence newest = kMaxSequence;  ///< No entry has a larger sequence.
};

}  // namespace tamis
