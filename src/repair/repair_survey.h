// The first half of a repair: finds what exists, what is sound and what is lost. It writes nothing.
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

/// A table file and its condition.
struct FoundTable {
  enum class Condition : std::uint8_t {
    kSound,
    kDamaged,  ///< To be rewritten from its readable blocks.
    kForeign,  ///< Belongs to another store.
  };
  Condition condition = Condition::kDamaged;
  std::optional<TableProperties> properties = {};  ///< None if they cannot be read.
  std::shared_ptr<const TableFacts> facts = {};    ///< From the manifest or the properties; null: unknown.
  KeyspaceId keyspace = kDefaultKeyspace;          ///< If it is chosen: where its entries belong.
  std::uint64_t salvaged_entries = 0;              ///< If it is damaged and chosen: how many could be read.
};

/// Everything that a repair knows before it writes, and its report.
struct RepairSurvey {
  std::map<std::uint64_t, FoundTable> tables;          ///< Every file named like a table.
  std::vector<std::uint64_t> journals;                 ///< All, ascending.
  std::map<std::uint64_t, std::uint64_t> value_files;  ///< The bytes of every file named like a value file.
  std::vector<std::uint64_t> manifests;
  bool has_current = false;
  bool has_manifest = false;  ///< It can be read, and defines the tables and their order.
  bool has_hash_key = false;  ///< The identity's, from the manifest or a table.
  /// From the manifest, and keyspaces that were found elsewhere. Without a manifest only these, the identity and the
  /// flushed sequence.
  ManifestState state;
  JournalsToRead journals_to_read;
  std::vector<std::uint64_t> chosen;  ///< The store's tables, as far as their files exist.
  std::uint64_t next_number = 1;      ///< Neither it nor a larger one was ever used, here or in lost/.
  std::uint64_t last_sequence = 0;    ///< The largest one seen.
  std::uint64_t last_time = 0;  ///< Of a commit or of the creation of a table, in milliseconds since 1970; 0: none.
  RepairReport report;
};

/// A damaged table of the surveyed store, as input for salvage_entries.
TableToSalvage table_to_salvage(const RepairSurvey& survey, const std::string& directory, std::uint64_t number);

/// kNotSupported if a newer version wrote any of it: that is not damage. kIoError if there is no store. kClosed if
/// `progress`, which receives bytes of tables, returns false.
Result<RepairSurvey> survey_store(FileSystem& files, const std::string& directory, RandomSource& random,
                                  const Progress& progress);

}  // namespace tamis
