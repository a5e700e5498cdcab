// Merges several ordered runs.
#pragma once

#include <memory>
#include <vector>

#include "entry/entry_iterator.h"

namespace tamis {

/// All entries of all runs in one order; VisibleIterator decides which of them a reader sees. `runs` are newest first;
/// of entries with equal key and sequence the newer run's comes first. Reversing direction costs one seek per run,
/// every other step one move of one run; no step allocates.
///
/// If a run fails, the merge stops with its status, even if others have entries left: it cannot know what comes next.
std::unique_ptr<EntryIterator> make_merging_iterator(std::vector<std::unique_ptr<EntryIterator>>&& runs);

}  // namespace tamis
