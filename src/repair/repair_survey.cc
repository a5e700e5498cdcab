#include "repair/repair_survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/try.h"
#include "io/file_names.h"
#include "io/path.h"
#include "journal/journal_reader.h"
#include "repair/repair_doubts.h"
#include "repair/repair_journals.h"
#include "repair/repair_keyspaces.h"
#include "repair/repair_order.h"
#include "repair/repair_problem.h"
#include "table/table_sections.h"
#include "table/table_verify.h"

namespace tamis {
namespace {

/// Threads: one.
class Surveyor {
 public:
  Surveyor(FileSystem& files, const std::string& directory, RandomSource& random, const Progress& progress)
      : files_(files), directory_(directory), random_(random), progress_(progress) {}

  Result<RepairSurvey> run() {
    TAMIS_TRY_STATUS(list());
    TAMIS_TRY_STATUS(read_manifest());
    TAMIS_TRY_STATUS(read_properties_of_all());
    if (!survey_.has_manifest) TAMIS_TRY_STATUS(find_identity());
    TAMIS_TRY_STATUS(judge_tables());
    choose_tables();
    TAMIS_TRY_STATUS(look_at_journals());
    find_keyspaces();
    for (const std::uint64_t number : survey_.chosen) TAMIS_TRY_STATUS(count_entries(number));
    report_missing_values();
    survey_.report.doubts = doubts_.in_report(survey_.state);
    return std::move(survey_);
  }

 private:
  Status list() {
    TAMIS_TRY(const std::vector<DirectoryEntry> entries, files_.list(directory_));
    bool has_lost = false;
    for (const DirectoryEntry& entry : entries) {
      has_lost |= entry.is_directory && entry.name == file_name_of(lost_path(directory_));
      const std::optional<FileName> name = parse_file_name(entry.name);
      if (!name || entry.is_directory) continue;
      if (name->kind != FileKind::kManifest) note_number(name->number);  // Manifests are numbered separately.
      if (name->kind == FileKind::kTable) survey_.tables[name->number] = {};
      if (name->kind == FileKind::kValues) {
        TAMIS_TRY(const std::optional<std::uint64_t> bytes, files_.file_size(join_path(directory_, entry.name)));
        survey_.value_files[name->number] = bytes.value_or(0);
      }
      if (name->kind == FileKind::kJournal) survey_.journals.push_back(name->number);
      if (name->kind == FileKind::kManifest) survey_.manifests.push_back(name->number);
      if (name->kind == FileKind::kCurrent) survey_.has_current = true;
    }
    std::ranges::sort(survey_.journals);
    if (survey_.tables.empty() && survey_.journals.empty() && !survey_.has_current) {
      return Status::io_error(directory_ + ": no store is here");
    }
    // Numbers of files that an earlier repair moved to lost/ are not reused.
    if (!has_lost) return {};
    TAMIS_TRY(const std::vector<DirectoryEntry> lost, files_.list(lost_path(directory_)));
    for (const DirectoryEntry& entry : lost) {
      const std::optional<FileName> name = parse_file_name(entry.name);
      if (name && name->kind != FileKind::kManifest) note_number(name->number);
    }
    return {};
  }

  void note_number(std::uint64_t number) { survey_.next_number = std::max(survey_.next_number, number + 1); }

  Status read_manifest() {
    Result<std::unique_ptr<Manifest>> manifest = Manifest::open(files_, directory_, random_);
    if (!manifest.ok()) {
      const StatusCode code = manifest.status().code();
      if (survey_.has_current && code != StatusCode::kCorruption) return manifest.status();
      survey_.report.manifest_lost =
          survey_.has_current ? std::string(manifest.status().message()) : current_path(directory_) + ": missing";
      return {};
    }
    survey_.state = (*manifest)->state();
    survey_.journals_to_read.known_end = (*manifest)->known_journal_end();
    survey_.has_manifest = survey_.has_hash_key = true;
    TAMIS_TRY_STATUS(check_can_write(survey_.state.features, current_path(directory_)));
    survey_.next_number = std::max(survey_.next_number, survey_.state.reserved_numbers);
    for_each_table([this](KeyspaceId /*keyspace*/, const std::shared_ptr<const TableFacts>& facts) {
      if (facts->origin) origins_.emplace(facts->number, *facts->origin);
    });
    for (const auto& [id, keyspace] : survey_.state.keyspaces) {
      survey_.last_sequence = std::max(survey_.last_sequence, flushed_sequence_of(survey_.state, keyspace));
    }
    return {};
  }

  /// Their tables stay: only readers of these values get an error.
  void report_missing_values() {
    std::map<std::uint64_t, std::uint64_t> missing;
    for (const std::uint64_t number : survey_.chosen) {
      const FoundTable& found = survey_.tables.at(number);
      if (found.facts == nullptr) continue;
      for (const ValuesOfTable& values : found.facts->values_apart) {
        if (!survey_.value_files.contains(values.file)) missing[values.file] += values.values;
      }
    }
    for (const auto& [file, values] : missing) {
      survey_.report.lost.push_back({file_name_of(value_file_path("", file)), 0,
                                     fmt::format("the file is missing; {} values cannot be read", values)});
    }
  }

  Status read_properties_of_all() {
    for (auto& [number, found] : survey_.tables) {
      const std::string path = table_path(directory_, number);
      TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files_.open_readable(path));
      Result<TableProperties> properties = read_properties(*file, path);
      if (!properties.ok() && !is_damage(properties.status())) return properties.status();
      if (!properties.ok()) continue;
      TAMIS_TRY_STATUS(take_features(properties->facts.features, path));
      bytes_in_all_ += properties->facts.file_bytes;
      found.facts = std::make_shared<const TableFacts>(properties->facts);
      found.properties = *std::move(properties);
    }
    return {};
  }

  /// The new store has what any of its files needs. A repair writes.
  Status take_features(const Features& features, const std::string& path) {
    survey_.state.features |= features;
    return check_can_write(features, path);
  }

  /// The store id in most files wins. The hash key comes from the tables (rule 13).
  Status find_identity() {
    std::map<StoreId, std::size_t> votes;
    for (const auto& [number, found] : survey_.tables) {
      if (found.properties) ++votes[found.properties->identity.store_id];
    }
    std::vector<std::string> journals;
    for (const std::uint64_t number : survey_.journals) journals.push_back(journal_path(directory_, number));
    for (const std::uint64_t number : survey_.manifests) journals.push_back(manifest_path(directory_, number));
    for (const std::string& path : journals) {
      const Result<JournalReader> journal = JournalReader::open(files_, path);
      if (!journal.ok() && !is_damage(journal.status())) return journal.status();
      if (!journal.ok()) continue;
      TAMIS_TRY_STATUS(take_features(journal->header().features, path));
      ++votes[journal->header().store_id];
    }
    const auto by_votes = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto winner = std::ranges::max_element(votes, by_votes);
    if (winner == votes.end()) return {};
    survey_.state.identity.store_id = winner->first;
    for (const auto& [number, found] : survey_.tables) {
      if (!found.properties || found.properties->identity.store_id != winner->first) continue;
      survey_.state.identity = found.properties->identity;
      survey_.has_hash_key = true;
    }
    return {};
  }

  Status judge_tables() {
    for (auto& [number, found] : survey_.tables) {
      const std::string path = table_path(directory_, number);
      TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files_.open_readable(path));
      TAMIS_TRY(found.condition, judge(*file, path, number, found));
      if (found.condition == FoundTable::Condition::kForeign) {
        survey_.report.lost.push_back({file_name_of(path), 32, "a table of another store, or under another's name"});
      } else if (found.properties && !survey_.has_manifest) {
        std::uint64_t& flushed = survey_.state.flushed_sequence;
        flushed = std::max(flushed, found.properties->flushed_sequence);
        survey_.last_sequence = std::max({survey_.last_sequence, found.properties->flushed_sequence,
                                          number_of(found.properties->facts.largest_sequence)});
        survey_.last_time = std::max(survey_.last_time, found.properties->facts.created_unix_seconds * 1000);
      }
    }
    return {};
  }

  Result<FoundTable::Condition> judge(const ReadableFile& file, const std::string& path, std::uint64_t number,
                                      const FoundTable& found) {
    const TableOrigin written = origin_of(number);
    if (!found.properties) {
      std::array<std::byte, kTableHeaderBytes> raw;
      const Result<std::size_t> count = file.read_at(0, raw);
      const Result<TableHeader> header = decode_table_header(Bytes(raw).first(count.ok() ? *count : 0), path);
      if (!header.ok() && !is_damage(header.status())) return header.status();
      const bool is_ours = !header.ok() || (header->store_id == written.store_id && header->number == written.number);
      return is_ours ? FoundTable::Condition::kDamaged : FoundTable::Condition::kForeign;
    }
    const TableIdentity& identity = found.properties->identity;
    const bool has_our_key = identity.hash_key == survey_.state.identity.hash_key;
    if (identity.store_id != written.store_id || found.properties->facts.number != written.number ||
        (!has_our_key && written.store_id == survey_.state.identity.store_id)) {
      return FoundTable::Condition::kForeign;
    }
    std::vector<TableProblem> problems;
    const auto step = [this](std::uint64_t bytes) { return tell(bytes); };
    const Status verified = verify_table(file, *found.properties, path, problems, step).status();
    if (!verified.ok() && !is_damage(verified)) return verified;
    return verified.ok() && problems.empty() ? FoundTable::Condition::kSound : FoundTable::Condition::kDamaged;
  }

  /// As which the table was written that has this number here: as itself, unless the manifest says otherwise.
  [[nodiscard]] TableOrigin origin_of(std::uint64_t number) const {
    if (const auto found = origins_.find(number); found != origins_.end()) return found->second;
    return {.store_id = survey_.state.identity.store_id, .number = number};
  }

  bool tell(std::uint64_t bytes) { return !progress_ || progress_(bytes_done_ += bytes, bytes_in_all_); }

  void choose_tables() {
    std::set<std::uint64_t> ours;
    std::map<std::uint64_t, FoundRewrite> rewrites;
    for (const auto& [number, found] : survey_.tables) {
      if (found.condition == FoundTable::Condition::kForeign) continue;
      ours.insert(number);
      if (!found.properties) continue;
      FoundRewrite& rewrite = rewrites[found.properties->rewrite != 0 ? found.properties->rewrite : number];
      rewrite.outputs.push_back(number);
      rewrite.inputs.insert(found.properties->replaces.begin(), found.properties->replaces.end());
    }
    if (survey_.has_manifest) {
      for_each_table([&](KeyspaceId keyspace, const std::shared_ptr<const TableFacts>& facts) {
        choose_if_there(keyspace, facts, ours);
      });
    } else {
      survey_.chosen = tables_without_replaced(ours, rewrites);
      doubts_.add_everywhere(
          "without the manifest, a table whose entries were all deleted looks like one that is needed");
    }
    survey_.report.tables_left_out = ours.size() - survey_.chosen.size();
  }

  /// Those that no manifest lists (rule 35).
  void find_keyspaces() {
    KeyspaceFinder finder(survey_.state);
    if (!survey_.has_manifest) find_in_tables(finder);
    for (const KeyspaceId id : in_journals_) {
      if (survey_.state.keyspaces.contains(id)) continue;
      if (survey_.has_manifest) {
        finder.add(id, fmt::format("lost-{}", number_of(id)));
        doubts_.add(id, fmt::format("journals have entries of keyspace {}, which was never created", number_of(id)));
      } else {
        finder.add(id, fmt::format("keyspace-{}", number_of(id)));
        doubts_.add(
            id, "only journals have entries of it: its name and its options are lost, and it may have been dropped");
      }
    }
    if (!survey_.has_manifest) place_tables_without_properties(finder);
  }

  /// A table has the id and the name of its keyspace. Options are lost. Of two keyspaces with one name, the older one
  /// was dropped, or its tables are all that is left: it gets another name.
  void find_in_tables(KeyspaceFinder& finder) {
    std::map<KeyspaceId, std::string> names;
    for (const std::uint64_t number : survey_.chosen) {
      FoundTable& found = survey_.tables.at(number);
      if (!found.properties || found.properties->keyspace == kDefaultKeyspace) continue;
      found.keyspace = found.properties->keyspace;
      names[found.keyspace] = found.properties->keyspace_name;
    }
    for (auto found = names.rbegin(); found != names.rend(); ++found) {
      const auto& [id, name] = *found;
      finder.add(id, name.empty() ? fmt::format("keyspace-{}", number_of(id)) : name);
      doubts_.add(id, "its options are lost, and it may have been dropped");
    }
  }

  /// In a store with keyspaces, nobody knows where the entries of such a table belong. In the default keyspace they
  /// could hide or delete what is there, so each gets a keyspace of its own.
  void place_tables_without_properties(KeyspaceFinder& finder) {
    if (!survey_.state.features.includes(Features::of(Feature::kKeyspaces))) return;
    for (const std::uint64_t number : survey_.chosen) {
      FoundTable& found = survey_.tables.at(number);
      if (found.properties) continue;
      found.keyspace = finder.add_new(fmt::format("table-{}", number));
      doubts_.add(found.keyspace, fmt::format("table {} does not record to which keyspace it belongs", number));
    }
  }

  template <typename Visit>
  void for_each_table(const Visit& visit) {
    for (const auto& [id, keyspace] : survey_.state.keyspaces) {
      for (const std::vector<Run>& level : keyspace.shape.levels) {
        for (const Run& run : level) {
          for (const auto& facts : run.tables) visit(id, facts);
        }
      }
    }
  }

  void choose_if_there(KeyspaceId keyspace, const std::shared_ptr<const TableFacts>& facts,
                       const std::set<std::uint64_t>& ours) {
    if (!ours.contains(facts->number)) {
      survey_.report.lost.push_back({file_name_of(table_path(directory_, facts->number)), 0,
                                     fmt::format("the table is missing, with {} entries", facts->entries)});
      doubts_.table_lost_entries(keyspace, *facts);
      return;
    }
    FoundTable& found = survey_.tables.at(facts->number);
    if (found.properties && !facts->are_of(found.properties->facts)) {
      found.condition = FoundTable::Condition::kDamaged;  // To be rewritten with correct facts.
    }
    found.facts = facts;
    found.keyspace = keyspace;
    survey_.chosen.push_back(facts->number);
  }

  Status count_entries(std::uint64_t number) {
    FoundTable& found = survey_.tables.at(number);
    RepairReport& report = survey_.report;
    if (found.condition == FoundTable::Condition::kSound) {
      ++report.tables_kept;
      report.entries += found.properties->facts.entries;
      if (found.properties->facts.has_range_deletes_alone()) return {};
      doubts_.key_is_kept(found.keyspace, found.properties->facts.smallest_key);
      doubts_.key_is_kept(found.keyspace, found.properties->facts.largest_key);
      return {};
    }
    const auto take = [&](const Entry& entry) {
      doubts_.key_is_kept(found.keyspace, entry.key);
      survey_.last_sequence = std::max(survey_.last_sequence, number_of(entry.sequence));
      return Status();
    };
    const TableToSalvage table = table_to_salvage(survey_, directory_, number);
    TAMIS_TRY(const std::optional<std::uint64_t> file_bytes, files_.file_size(table.path));
    bytes_in_all_ += file_bytes.value_or(0);
    TAMIS_TRY(Salvaged salvaged,
              salvage_entries(files_, table, take, [this](std::uint64_t bytes) { return tell(bytes); }));
    found.salvaged_entries = salvaged.entries;
    report.entries += salvaged.entries;
    report.bytes_looked_at += salvaged.bytes_looked_at;
    for (const RangeTombstone& fragment : salvaged.range_deletes) {
      survey_.last_sequence = std::max(survey_.last_sequence, number_of(fragment.sequence));
    }
    if (salvaged.entries > 0 || !salvaged.range_deletes.empty()) ++report.tables_rewritten;
    if (found.facts == nullptr) {
      doubts_.add_everywhere(fmt::format("table {} does not record what it held or which tables it replaced", number));
    } else if (!salvaged.lost.empty()) {
      doubts_.table_lost_entries(found.keyspace, *found.facts);
    }
    std::ranges::move(salvaged.lost, std::back_inserter(report.lost));
    return {};
  }

  Status look_at_journals() {
    JournalsToRead& wanted = survey_.journals_to_read;
    wanted.numbers = survey_.journals;
    wanted.store_id = survey_.state.identity.store_id;
    wanted.is_flushed_known = survey_.has_manifest;
    wanted.flushed_sequence = survey_.state.flushed_sequence;
    wanted.first_journal = survey_.state.first_journal;
    if (survey_.has_manifest) {
      for (const auto& [id, keyspace] : survey_.state.keyspaces) {
        wanted.flushed.emplace(id, flushed_sequence_of(survey_.state, keyspace));
      }
      wanted.next_keyspace = survey_.state.next_keyspace;
    }
    const auto take = [this](KeyspaceId keyspace, const Entry& entry) {
      in_journals_.insert(keyspace);
      doubts_.key_is_kept(keyspace, entry.key);
      return Status();
    };
    TAMIS_TRY(JournalsRead read, read_journals(files_, directory_, wanted, take));
    survey_.state.features |= read.features;
    survey_.report.journal_entries = read.entries;
    survey_.last_sequence = std::max(survey_.last_sequence, read.last_sequence);
    survey_.last_time = std::max(survey_.last_time, read.last_commit_time);
    if (!read.lost.empty()) doubts_.add_everywhere("the journal lost records; deletes may be among them");
    std::ranges::move(read.lost, std::back_inserter(survey_.report.lost));
    return {};
  }

  FileSystem& files_;
  const std::string& directory_;
  RandomSource& random_;
  const Progress& progress_;
  std::uint64_t bytes_in_all_ = 0;  // Of tables to verify, and of damaged ones to salvage.
  std::uint64_t bytes_done_ = 0;
  RepairSurvey survey_;
  RepairDoubts doubts_;
  std::set<KeyspaceId> in_journals_;              // With entries that are in no table.
  std::map<std::uint64_t, TableOrigin> origins_;  // Of tables that another store wrote.
};

}  // namespace

TableToSalvage table_to_salvage(const RepairSurvey& survey, const std::string& directory, std::uint64_t number) {
  const TableFacts* const facts = survey.tables.at(number).facts.get();
  return {.path = table_path(directory, number),
          .number = facts == nullptr ? number : facts->written_number(),
          .facts = facts};
}

Result<RepairSurvey> survey_store(FileSystem& files, const std::string& directory, RandomSource& random,
                                  const Progress& progress) {
  return Surveyor(files, directory, random, progress).run();
}

}  // namespace tamis
