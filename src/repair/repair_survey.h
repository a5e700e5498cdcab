// The first half of a repair: what is there, what is sound, what is lost. Nothing is written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "repair/repair_journals.h"
#include "repair/table_salvage.h"
#include "table/table_format.h"
#include "tamis/db.h"
#include "tamis/stats.h"
#include "tamis/status.h"
#include "tree/manifest.h"

namespace tamis {

/// A table's file and what can be said of it.
struct FoundTable {
  enum class Condition : std::uint8_t {
    kSound,
    kDamaged,  ///< To be written anew from the blocks that can be read.
    kForeign,  ///< Another store's.
  };
  Condition condition = Condition::kDamaged;
  std::optional<TableProperties> properties = {};  ///< None when they cannot be read.
  std::shared_ptr<const TableFacts> facts = {};  ///< The manifest's, or those of the properties; null: none are known.
  std::uint64_t salvaged_entries = 0;            ///< Of a damaged one that is chosen: what could be read.
};

/// Everything that a repair knows before it writes, and the report of it.
struct RepairSurvey {
  std::map<std::uint64_t, FoundTable> tables;  ///< Every file with a table's name.
  std::vector<std::uint64_t> journals;         ///< All there are, ascending.
  std::vector<std::uint64_t> manifests;
  bool has_current = false;
  bool has_manifest = false;  ///< It can be read: it is the truth about tables and their order.
  bool has_hash_key = false;  ///< The identity's, from the manifest or a table.
  ManifestState state;        ///< The manifest's; without one, only identity and flushed sequence.
  KnownJournalEnd known_journal_end;
  std::vector<std::uint64_t> chosen;  ///< Tables that are the store, as far as their files are there.
  std::uint64_t next_number = 1;      ///< No file, here or in lost/, has had it or a larger one.
  std::uint64_t last_sequence = 0;    ///< No larger one was seen anywhere.
  RepairReport report;
};

/// A damaged table of the surveyed store, for whoever reads it (table_salvage.h).
TableToSalvage table_to_salvage(const RepairSurvey& survey, const std::string& directory, std::uint64_t number);

/// The journals of the surveyed store, for whoever reads them (repair_journals.h).
JournalsToRead journals_to_read(const RepairSurvey& survey);

/// kNotSupported when anything was written by a newer version: that is no damage. kIoError when there is no store.
/// kClosed when `progress`, told of bytes of tables, returned false.
Result<RepairSurvey> survey_store(FileSystem& files, const std::string& directory, RandomSource& random,
                                  const Progress& progress);

}  // namespace tamis
