// Opening a store: its journals become memtables and tables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/catalog.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/maintenance.h"
#include "engine/published_sequence.h"
#include "engine/store_context.h"
#include "engine/store_files.h"
#include "entry/batch_format.h"
#include "entry/keyspace_id.h"
#include "journal/journal_stream.h"
#include "tamis/status.h"

namespace tamis {

/// Replays the journals that the manifest still needs, as one stream (rules 1 and 2). A journal that was closed cleanly
/// is continued; anything else is written to tables before the first write is accepted. Each keyspace skips what its
/// own tables already hold (rule 34).
///
/// Threads: one, before any other uses the store.
class Recovery {
 public:
  Recovery(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
           Maintenance& maintenance, PublishedSequence& published)
      : context_(context),
        catalog_(catalog),
        keyspaces_(keyspaces),
        journals_(journals),
        maintenance_(maintenance),
        published_(published) {}

  Status run();

 private:
  /// The tree of a keyspace, and what of it is to be replayed.
  struct Replayed {
    std::shared_ptr<OpenKeyspace> keyspace;  // Null: it was dropped, and nothing is.
    std::uint64_t flushed_sequence = 0;      // Up to here it is in tables.
    std::shared_ptr<Memtable> memtable;
  };

  Result<std::vector<std::uint64_t>> needed_journals(const StoreFiles& found, const KnownJournalEnd& known) const;
  Status keep_journals(std::span<const std::uint64_t> needed, const JournalStream& stream);
  Status replay(JournalStream& stream);
  Result<Replayed*> replayed_for(KeyspaceId id);
  Status flush_replayed();
  Status begin_new_journal(const std::vector<std::uint64_t>& replayed, const JournalStreamEnd& end);
  Status save_stranded(std::span<const std::uint64_t> journals);

  const StoreContext& context_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  Journals& journals_;
  Maintenance& maintenance_;
  PublishedSequence& published_;
  std::map<KeyspaceId, Replayed> replayed_;
};

}  // namespace tamis
