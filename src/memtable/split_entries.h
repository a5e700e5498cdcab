// A part of a memtable's entries.
#pragma once

#include <memory>

#include "entry/entry_iterator.h"

namespace tamis {

/// An iterator over those of some chunks, which are older or newer than all others.
///
/// Threads: as EntryIterator. The memtable must outlive it.
struct SplitEntries {
  std::unique_ptr<EntryIterator> iterator;
  Sequence newest = kMaxSequence;  ///< No entry has a larger sequence.
};

}  // namespace tamis
