#include "engine/repair.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/try.h"
#include "cache/block_cache.h"
#include "compaction/rewriter.h"
#include "engine/random_source.h"
#include "engine/repair_order.h"
#include "engine/table_salvage.h"
#include "entry/batch_format.h"
#include "entry/merging_iterator.h"
#include "io/file_handles.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "journal/journal_reader.h"
#include "memtable/memtable.h"
#include "table/table.h"
#include "table/table_builder.h"
#include "table/table_sections.h"
#include "table/table_verify.h"
#include "tamis/options.h"
#include "tree/file_names.h"
#include "tree/manifest.h"

namespace tamis {
namespace {

constexpr double kRepairBitsPerKey = 10;  // What filters of new tables get; compactions plan anew.

/// One repair, from the first look to the new manifest.
///
/// Threads: one.
class Repair {
 public:
  Repair(FileSystem& files, std::string directory, bool dry_run, Manifest::Random& random)
      : files_(files), directory_(std::move(directory)), random_(random) {
    report_.is_dry_run = dry_run;
  }

  Result<RepairReport> run() {
    TAMIS_TRY_STATUS(list());
    read_manifest();
    TAMIS_TRY_STATUS(look_at_tables());
    TAMIS_TRY_STATUS(choose_tables());
    TAMIS_TRY_STATUS(read_journals());
    if (!report_.is_dry_run) TAMIS_TRY_STATUS(write_store());
    return std::move(report_);
  }

 private:
  /// A table file and what can be said of it.
  struct Found {
    TableProperties properties;
    bool has_properties = false;
    bool is_sound = false;
  };

  Status list() {
    TAMIS_TRY(const std::vector<DirectoryEntry> entries, files_.list(directory_));
    for (const DirectoryEntry& entry : entries) {
      const std::optional<FileName> name = parse_file_name(entry.name);
      if (!name || entry.is_directory) continue;
      next_number_ = std::max(next_number_, name->number + 1);
      if (name->kind == FileKind::kTable) tables_[name->number] = {};
      if (name->kind == FileKind::kJournal) journals_.push_back(name->number);
      if (name->kind == FileKind::kManifest) last_manifest_ = std::max(last_manifest_, name->number);
      if (name->kind == FileKind::kCurrent) has_current_ = true;
    }
    std::ranges::sort(journals_);
    if (tables_.empty() && journals_.empty() && !has_current_) {
      return Status::io_error(directory_ + ": no store is here");
    }
    return {};
  }

  void read_manifest() {
    Result<std::unique_ptr<Manifest>> manifest = Manifest::open(files_, directory_, random_);
    if (manifest.ok()) {
      state_ = (*manifest)->state();
      has_manifest_ = true;
      next_number_ = std::max(next_number_, state_.reserved_numbers);
    } else {
      report_.lost.push_back({current_path(directory_), 0, std::string(manifest.status().message())});
    }
  }

  Status look_at_tables() {
    for (auto& [number, found] : tables_) {
      const std::string path = table_path(directory_, number);
      TAMIS_TRY(const std::unique_ptr<ReadableFile> file, files_.open_readable(path));
      Result<TableProperties> properties = read_properties(*file, path);
      if (!properties.ok()) continue;
      found.properties = *std::move(properties);
      found.has_properties = found.properties.facts.number == number;
      if (found.has_properties && !has_manifest_ && !has_identity_) {
        state_.identity = found.properties.identity;  // Rule 13: the key of the hash comes from the tables.
        has_identity_ = true;
      }
      if (!found.has_properties) continue;
      std::vector<TableProblem> problems;
      const auto go_on = [](std::uint64_t) { return true; };
      found.is_sound = verify_table(*file, found.properties, path, problems, go_on).ok() && problems.empty();
    }
    return {};
  }

  /// Which tables are the store: those of the manifest, or `loose_` when there is none.
  Status choose_tables() {
    if (has_manifest_) {
      for (const std::vector<Run>& level : state_.shape.levels) {
        for (const Run& run : level) {
          for (const auto& facts : run.tables) note_lost_parts(*facts);
        }
      }
      return {};
    }
    std::set<std::uint64_t> numbers;
    std::map<std::uint64_t, std::vector<std::uint64_t>> replaces;
    for (const auto& [number, found] : tables_) {
      if (found.has_properties && found.properties.identity.store_id != state_.identity.store_id) {
        report_.lost.push_back({table_path(directory_, number), 32, "a table of another store; moved to lost/"});
        continue;
      }
      numbers.insert(number);
      if (found.has_properties) replaces[number] = found.properties.replaces;
    }
    for (const std::uint64_t number : tables_without_replaced(numbers, replaces)) loose_.push_back(number);
    report_.tables_left_out = numbers.size() - loose_.size();
    for (const std::uint64_t number : loose_) note_lost_parts(tables_[number].properties.facts);
    return {};
  }

  void note_lost_parts(const TableFacts& facts) {
    const auto found = tables_.find(facts.number);
    if (found == tables_.end()) {
      report_.lost.push_back({table_path(directory_, facts.number), 0,
                              fmt::format("the table is missing, with {} entries", facts.entries)});
    } else if (!found->second.is_sound) {
      std::uint64_t entries = 0;
      const Status salvaged = salvage_entries(
          files_, table_path(directory_, facts.number), facts.number,
          [&](const Entry&) {
            ++entries;
            return Status();
          },
          report_.lost);
      if (!salvaged.ok()) {
        report_.lost.push_back({table_path(directory_, facts.number), 0, std::string(salvaged.message())});
      }
      report_.entries += entries;
      ++report_.tables_kept;
    } else {
      report_.entries += facts.entries;
      ++report_.tables_kept;
      return;
    }
    report_.doubts.push_back(
        {facts.smallest_key, facts.largest_key,
         fmt::format("table {} has lost entries; deletes may have been among them", facts.number)});
  }

  /// Everything that a journal still has, up to damage, is kept; what tables have already is the same entry again.
  Status read_journals() {
    for (const std::uint64_t number : journals_) {
      if (has_manifest_ && number < state_.first_journal) continue;
      const std::string path = journal_path(directory_, number);
      Result<JournalReader> journal = JournalReader::open(files_, path);
      Status problem = journal.status();
      if (journal.ok()) {
        if (!has_manifest_ && !has_identity_) state_.identity.store_id = journal->header().store_id;
        problem = read_records(*journal, path);
      }
      if (problem.ok()) continue;
      report_.lost.push_back({path, 0, std::string(problem.message())});
      report_.doubts.push_back({"", "\xff", "the journal lost records; deletes may have been among them"});
    }
    return {};
  }

  Status read_records(JournalReader& journal, const std::string& path) {
    const KeyHasher hasher(state_.identity.hash_key);
    while (true) {
      TAMIS_TRY(const std::optional<JournalRecord> record, journal.next());
      if (!record) return {};
      if (record->first_sequence + record->count - 1 <= state_.flushed_sequence) continue;
      if (record->first_sequence <= last_journal_sequence_) continue;  // An earlier journal had it.
      TAMIS_TRY(const BatchView batch, BatchView::decode(record->payload, Sequence{record->first_sequence}, path));
      TAMIS_TRY_STATUS(replayed_.reserve(batch.size(), record->payload.size()));
      for (const Entry& entry : batch) replayed_.insert(entry, hasher(entry.key));
      last_journal_sequence_ = record->first_sequence + record->count - 1;
      report_.journal_entries += batch.size();
    }
  }

  Status write_store() {
    if (!has_manifest_ && !has_identity_) {
      const std::array<std::byte, 16> store_id = state_.identity.store_id;
      state_.identity = draw_identity(random_);
      state_.identity.store_id = store_id;
    }
    TAMIS_TRY_STATUS(has_manifest_ ? keep_places() : find_places());
    TAMIS_TRY_STATUS(add_journal_table());
    for (const std::vector<Run>& level : state_.shape.levels) {
      for (const Run& run : level) {
        for (const auto& table : run.tables) {
          state_.flushed_sequence = std::max(state_.flushed_sequence, number_of(table->largest_sequence));
        }
      }
    }
    TAMIS_TRY_STATUS(files_.sync_directory(directory_));
    state_.first_journal = 0;
    state_.reserved_numbers = next_number_;
    // In this order a crash at any moment leaves every file where this, done again, finds it.
    const std::vector<std::string> rest = unneeded_files();
    TAMIS_TRY_STATUS(link_to_lost(rest));
    TAMIS_TRY(const std::unique_ptr<Manifest> manifest,
              Manifest::create_with(files_, directory_, state_, last_manifest_ + 1, random_));
    TAMIS_TRY_STATUS(manifest->close({}));
    for (const std::string& path : rest) TAMIS_TRY_STATUS(files_.remove(path));
    return files_.sync_directory(directory_);
  }

  /// A damaged table's place is taken by what was read from it.
  Status keep_places() {
    ShapeEdit edit;
    for (std::uint32_t level = 0; level < state_.shape.levels.size(); ++level) {
      for (const Run& run : state_.shape.levels[level]) {
        for (const auto& facts : run.tables) {
          const auto found = tables_.find(facts->number);
          if (found != tables_.end() && found->second.is_sound) continue;
          edit.removed.push_back(facts->number);
          if (found == tables_.end()) continue;
          TAMIS_TRY(const std::shared_ptr<const TableFacts> anew, write_anew(facts->number, level, run.id));
          if (anew != nullptr) edit.added.push_back({level, run.id, anew});
        }
      }
    }
    TAMIS_TRY(state_.shape, state_.shape.with(edit));
    return {};
  }

  /// Runs of level 0, newest first by their sequences.
  Status find_places() {
    std::vector<std::shared_ptr<const TableFacts>> tables;
    for (const std::uint64_t number : loose_) {
      if (tables_[number].is_sound) {
        tables.push_back(std::make_shared<const TableFacts>(tables_[number].properties.facts));
        continue;
      }
      TAMIS_TRY(std::shared_ptr<const TableFacts> anew, write_anew(number, 0, 0));
      if (anew != nullptr) tables.push_back(std::move(anew));
    }
    if (!replayed_.empty()) {
      TAMIS_TRY(std::vector<std::shared_ptr<const TableFacts>> journal, write_journal_tables());
      tables.insert(tables.end(), journal.begin(), journal.end());
      journal_is_written_ = true;
    }
    ShapeEdit edit;
    for (const std::vector<std::shared_ptr<const TableFacts>>& group : in_order(std::move(tables))) {
      const std::uint64_t run = next_number_++;
      if (group.size() == 1) {
        edit.added.push_back({0, run, group.front()});
        continue;
      }
      TAMIS_TRY(const std::vector<std::shared_ptr<const TableFacts>> merged, merge(group));
      for (const auto& table : merged) edit.added.push_back({0, run, table});
    }
    TAMIS_TRY(state_.shape, Shape{}.with(edit));
    return {};
  }

  /// None when nothing in it could be read.
  Result<std::shared_ptr<const TableFacts>> write_anew(std::uint64_t number, std::uint32_t level, std::uint64_t run) {
    TableSpec spec;
    spec.number = next_number_++;
    spec.path = table_path(directory_, spec.number);
    spec.identity = state_.identity;
    spec.level = level;
    spec.run = run;
    TAMIS_TRY(const std::unique_ptr<TableBuilder> builder, TableBuilder::create(files_, spec));
    const KeyHasher hasher(state_.identity.hash_key);
    std::vector<Problem> told_already;
    TAMIS_TRY_STATUS(salvage_entries(
        files_, table_path(directory_, number), number,
        [&](const Entry& entry) { return builder->add(entry, hasher(entry.key)); }, told_already));
    if (builder->entries() == 0) {
      TAMIS_TRY_STATUS(files_.remove(spec.path));
      return std::shared_ptr<const TableFacts>();
    }
    TAMIS_TRY(TableFacts facts, builder->finish({.kind = "line", .bits_per_key = kRepairBitsPerKey}));
    return std::shared_ptr<const TableFacts>(std::make_shared<const TableFacts>(std::move(facts)));
  }

  Status add_journal_table() {
    if (replayed_.empty() || journal_is_written_) return {};
    TAMIS_TRY(const std::vector<std::shared_ptr<const TableFacts>> tables, write_journal_tables());
    ShapeEdit edit;
    const std::uint64_t run = next_number_++;
    for (const auto& table : tables) edit.added.push_back({0, run, table});
    TAMIS_TRY(state_.shape, state_.shape.with(edit));
    return {};
  }

  Result<std::vector<std::shared_ptr<const TableFacts>>> write_journal_tables() {
    return write_tables(*replayed_.iterate());
  }

  /// Newest first, so that of equal positions the newer table's entry wins.
  Result<std::vector<std::shared_ptr<const TableFacts>>> merge(
      const std::vector<std::shared_ptr<const TableFacts>>& group) {
    FileHandles handles(files_, group.size());
    TAMIS_TRY(const std::unique_ptr<BlockCache> cache, BlockCache::make({.capacity_bytes = 0}));
    MetadataBudget nothing(0);
    const TableContext context{directory_, state_.identity, &handles, cache.get(), &nothing, &nothing};
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<std::unique_ptr<EntryIterator>> runs;
    for (const auto& facts : group) {
      tables.push_back(std::make_unique<Table>(facts, context));
      runs.push_back(tables.back()->iterate(false));
    }
    const std::unique_ptr<EntryIterator> merged = make_merging_iterator(std::move(runs));
    return write_tables(*merged);
  }

  /// Nothing is left out but what a newer version covers: what else there is nobody knows here.
  Result<std::vector<std::shared_ptr<const TableFacts>>> write_tables(EntryIterator& source) {
    Run anything;
    auto bounds = std::make_shared<TableFacts>();
    bounds->largest_key.assign(kMaxKeyBytes, '\xff');
    anything.tables.push_back(std::move(bounds));
    const KeyHasher hasher(state_.identity.hash_key);
    const FilterPlanner filters({}, {}, 0, 0, 1, {.kind = "line", .memory_bytes = {}, .most_bytes = 1 << 30});
    RewriteSpec spec{.files = &files_, .directory = directory_, .identity = state_.identity, .hasher = &hasher};
    spec.table_bytes = Options{}.table_bytes;
    spec.filters = &filters;
    spec.snapshots = {Sequence{number_of(kMaxSequence) - 1}};
    spec.older_runs = {&anything};
    spec.new_number = [this] { return Result<std::uint64_t>(next_number_++); };
    TAMIS_TRY(RewriteResult result, rewrite(source, spec));
    return std::move(result.tables);
  }

  /// Journals, whose entries are in tables now, damaged tables and those that are not part of the store.
  [[nodiscard]] std::vector<std::string> unneeded_files() const {
    std::set<std::uint64_t> live;
    for (const std::vector<Run>& level : state_.shape.levels) {
      for (const Run& run : level) {
        for (const auto& table : run.tables) live.insert(table->number);
      }
    }
    std::vector<std::string> unneeded;
    for (const std::uint64_t number : journals_) unneeded.push_back(journal_path(directory_, number));
    for (const auto& [number, found] : tables_) {
      if (!live.contains(number)) unneeded.push_back(table_path(directory_, number));
    }
    return unneeded;
  }

  Status link_to_lost(const std::vector<std::string>& paths) {
    if (paths.empty()) return {};
    const std::string lost = lost_path(directory_);
    if (!files_.list(lost).ok()) TAMIS_TRY_STATUS(files_.make_directory(lost));
    for (const std::string& path : paths) {
      const std::string target = join_path(lost, path.substr(path.rfind('/') + 1));
      TAMIS_TRY(const std::optional<std::uint64_t> exists, files_.file_size(target));
      if (!exists) TAMIS_TRY_STATUS(files_.link(path, target));
    }
    TAMIS_TRY_STATUS(files_.sync_directory(lost));
    return files_.sync_directory(directory_);
  }

  FileSystem& files_;
  const std::string directory_;
  Manifest::Random& random_;
  RepairReport report_;
  std::map<std::uint64_t, Found> tables_;
  std::vector<std::uint64_t> journals_;
  std::vector<std::uint64_t> loose_;  // Without a manifest: the tables that are the store.
  std::uint64_t next_number_ = 1;
  std::uint64_t last_manifest_ = 0;
  std::uint64_t last_journal_sequence_ = 0;
  bool has_current_ = false;
  bool has_manifest_ = false;
  bool has_identity_ = false;
  bool journal_is_written_ = false;
  ManifestState state_;
  Memtable replayed_;
};

}  // namespace

Result<RepairReport> repair_store(const std::string& path, bool dry_run, const Environment& environment) {
  FileSystem& files = environment.files != nullptr ? *environment.files : posix_file_system();
  std::unique_ptr<FileLock> lock;
  if (!dry_run) {
    TAMIS_TRY(lock, files.lock(lock_path(path), LockMode::kExclusive));
  }
  const std::unique_ptr<Manifest::Random> random = make_random_source(environment.random_seed);
  return Repair(files, path, dry_run, *random).run();
}

}  // namespace tamis
