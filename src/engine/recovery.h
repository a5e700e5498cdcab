// Opening a store: its journals become memtables and tables.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/catalog.h"
#include "engine/journals.h"
#include "engine/maintenance.h"
#include "engine/published_sequence.h"
#include "engine/store_context.h"
#include "engine/store_files.h"
#include "engine/tree.h"
#include "journal/journal_stream.h"
#include "tamis/status.h"

namespace tamis {

/// Replays the journals that the manifest still needs, as one stream (rules 1 and 2). A journal that was closed cleanly
/// is continued; anything else is written to tables before the first write is accepted.
///
/// Threads: one, before any other uses the store.
class Recovery {
 public:
  Recovery(const StoreContext& context, Catalog& catalog, Tree& tree, Journals& journals, Maintenance& maintenance,
           PublishedSequence& published)
      : context_(context),
        catalog_(catalog),
        tree_(tree),
        journals_(journals),
        maintenance_(maintenance),
        published_(published) {}

  Status run();

 private:
  Result<std::vector<std::uint64_t>> needed_journals(const StoreFiles& found, const KnownJournalEnd& known) const;
  Status keep_journals(const std::vector<std::uint64_t>& needed);
  Status replay(JournalStream& stream);
  Status flush_replayed();
  Status begin_new_journal(const std::vector<std::uint64_t>& replayed, const JournalStreamEnd& end);
  Status save_stranded(std::span<const std::uint64_t> journals);

  const StoreContext& context_;
  Catalog& catalog_;
  Tree& tree_;
  Journals& journals_;
  Maintenance& maintenance_;
  PublishedSequence& published_;
};

}  // namespace tamis
