// Several ordered runs walked as one.
#pragma once

#include <memory>
#include <vector>

#include "entry/entry_iterator.h"

namespace tamis {

/// All entries of all runs in one order, nothing left out: what a reader may see of them is VisibleIterator's business.
/// `runs` are newest first; of entries with equal key and sequence the newer run's comes first. Turning round costs one
/// seek per run, every other step one move of one run; no step allocates.
///
/// When a run fails, the merge stops with its status, whatever the others still hold: it cannot know what comes next.
std::unique_ptr<EntryIterator> make_merging_iterator(std::vector<std::unique_ptr<EntryIterator>> runs);

}  // namespace tamis
