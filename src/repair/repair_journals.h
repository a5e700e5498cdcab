// Reads what is left of a store's journals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "entry/keyspace_id.h"
#include "io/file_system.h"
#include "journal/journal_format.h"
#include "tamis/stats.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// Which records to read.
struct JournalsToRead {
  std::vector<std::uint64_t> numbers = {};  ///< Of the files, ascending.
  StoreId store_id = {};
  bool is_flushed_known = false;       ///< There is a manifest: the first record needed begins at flushed_sequence + 1.
  std::uint64_t flushed_sequence = 0;  ///< Sequences up to this one are in tables.
  std::uint64_t first_journal = 0;     ///< Earlier journals are not needed; 0: no journal has to exist.
  KnownJournalEnd known_end = {};
  /// With a manifest: the keyspaces, and up to which sequence their entries are in tables (rule 34). An id below
  /// `next_keyspace` that is not here was dropped.
  std::map<KeyspaceId, std::uint64_t> flushed = {};
  std::uint32_t next_keyspace = 0;
};

/// Takes an entry of this keyspace.
using TakeJournalEntry = std::function<Status(KeyspaceId, const Entry&)>;

/// The result of read_journals.
struct JournalsRead {
  std::vector<Problem> lost = {};
  std::uint64_t entries = 0;        ///< That were taken.
  std::uint64_t last_sequence = 0;  ///< The largest that a record or a header implies.
};

/// Calls `take` for every entry that is neither in a table nor of a dropped keyspace, by ascending sequence. If opening
/// the store would replay the journals, these are the same entries. If it would refuse, they come from every readable
/// record, even after damage. Fails if `take` fails, or with an error that is not damage (is_damage).
Result<JournalsRead> read_journals(FileSystem& files, const std::string& directory, const JournalsToRead& wanted,
                                   const TakeJournalEntry& take);

}  // namespace tamis
