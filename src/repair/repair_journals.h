// Reads what is left of a store's journals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "entry/entry.h"
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
  std::uint64_t flushed_sequence = 0;  ///< Sequences up to this one are in tables, in every keyspace.
  /// With a manifest: its keyspaces, and up to where the entries of each are in tables (rule 34).
  std::map<KeyspaceId, std::uint64_t> flushed = {};
  /// With a manifest: an id below this that is not in `flushed` was dropped; one from here on was never given (rule
  /// 35).
  std::uint32_t next_keyspace = 0;
  std::uint64_t first_journal = 0;  ///< Earlier journals are not needed; 0: no journal has to exist.
  KnownJournalEnd known_end = {};
};

/// The result of read_journals.
struct JournalsRead {
  std::vector<Problem> lost = {};
  std::uint64_t entries = 0;
  std::uint64_t last_sequence = 0;     ///< The largest that a record or a header implies.
  std::uint64_t last_commit_time = 0;  ///< Of a record that was taken, in milliseconds since 1970.
  Features features = {};              ///< In the headers.
};

/// What becomes of an entry of this keyspace.
using TakeEntry = std::function<Status(KeyspaceId keyspace, const Entry& entry)>;

/// Calls `take` for every entry that is not in a table, by ascending sequence, except those of dropped keyspaces. If
/// opening the store would replay the journals, these are the same entries. If it would refuse, they come from every
/// readable record, even after damage, and an id that was never given is taken, too. Fails if `take` fails, or with an
/// error that is not damage (is_damage).
Result<JournalsRead> read_journals(FileSystem& files, const std::string& directory, const JournalsToRead& wanted,
                                   const TakeEntry& take);

}  // namespace tamis
