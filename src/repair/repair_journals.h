// Reading what is left of a store's journals.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "io/file_system.h"
#include "journal/journal_format.h"
#include "tamis/stats.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// Which records are wanted.
struct JournalsToRead {
  std::vector<std::uint64_t> numbers = {};  ///< Of the files, ascending.
  StoreId store_id = {};
  bool is_flushed_known = false;       ///< From a manifest: the first record needed is the one after flushed_sequence.
  std::uint64_t flushed_sequence = 0;  ///< All up to here are in tables.
  std::uint64_t first_journal = 0;     ///< Those before it are not needed; 0: none need be there.
  KnownJournalEnd known_end = {};
};

/// What was wrong, and what came by.
struct JournalsRead {
  std::vector<Problem> lost = {};
  std::uint64_t entries = 0;
  std::uint64_t last_sequence = 0;  ///< The largest that a record or a header speaks of.
};

/// Calls `take` for every entry that tables do not have, sequences ascending. Where opening the store would replay the
/// journals, these are the same entries; where it would refuse, every record that can be read, also those beyond
/// damage. Fails where `take` fails, and where what is wrong is no damage (is_damage).
Result<JournalsRead> read_journals(FileSystem& files, const std::string& directory, const JournalsToRead& wanted,
                                   const std::function<Status(const Entry&)>& take);

}  // namespace tamis
