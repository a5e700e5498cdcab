#include "repair/repair_write.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/hash.h"
#include "base/try.h"
#include "cache/block_cache.h"
#include "compaction/rewriter.h"
#include "engine/lost_folder.h"
#include "entry/merging_iterator.h"
#include "io/file_handles.h"
#include "io/file_names.h"
#include "io/path.h"
#include "journal/journal_writer.h"
#include "memtable/memtable.h"
#include "repair/repair_order.h"
#include "repair/repair_problem.h"
#include "table/table.h"
#include "table/table_builder.h"
#include "table/value_file_format.h"
#include "tamis/options.h"

namespace tamis {
namespace {

using Tables = std::vector<std::shared_ptr<const TableFacts>>;
/// The tables of each keyspace, one element per memtable, oldest first.
using Flushes = std::map<KeyspaceId, std::vector<Tables>>;

constexpr std::size_t kMaxMemtableBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxOpenTables = 256;
constexpr double kBitsPerKey = 10;  // For filters of new tables; compactions plan their own.

/// Threads: one.
class RepairWriter {
 public:
  RepairWriter(FileSystem& files, const std::string& directory, RepairSurvey survey, RandomSource& random)
      : files_(files),
        directory_(directory),
        survey_(std::move(survey)),
        random_(random),
        state_(survey_.state),
        next_number_(survey_.next_number) {
    if (!survey_.has_hash_key) {
      const StoreId store_id = state_.identity.store_id;
      state_.identity = draw_identity(random_);
      if (store_id != StoreId{}) state_.identity.store_id = store_id;
    }
    hasher_ = KeyHasher(state_.identity.hash_key);
  }

  Status run() {
    TAMIS_TRY_STATUS(survey_.has_manifest ? keep_places() : find_places());
    TAMIS_TRY_STATUS(files_.sync_directory(directory_));
    state_.flushed_sequence = survey_.last_sequence;
    TAMIS_TRY(const KnownJournalEnd journal, begin_journal());
    state_.first_journal = journal.number;
    state_.reserved_numbers = next_number_;
    std::vector<std::string> unneeded = unneeded_files();
    std::vector<std::string> saved = unneeded;
    if (!survey_.has_manifest && survey_.has_current) saved.push_back(file_name_of(current_path(directory_)));
    TAMIS_TRY_STATUS(link_to_lost(files_, directory_, saved));
    const std::uint64_t last_manifest = survey_.manifests.empty() ? 0 : std::ranges::max(survey_.manifests);
    TAMIS_TRY(const std::unique_ptr<Manifest> manifest,
              Manifest::create_with(files_, directory_, state_, last_manifest + 1, random_));
    TAMIS_TRY_STATUS(manifest->close(journal));
    for (const std::string& name : unneeded) TAMIS_TRY_STATUS(files_.remove(join_path(directory_, name)));
    return files_.sync_directory(directory_);
  }

 private:
  [[nodiscard]] bool is_sound(std::uint64_t number) const {
    const auto found = survey_.tables.find(number);
    return found != survey_.tables.end() && found->second.condition == FoundTable::Condition::kSound;
  }
  [[nodiscard]] bool is_chosen(std::uint64_t number) const {
    return std::ranges::find(survey_.chosen, number) != survey_.chosen.end();
  }

  /// With a manifest: a rewritten table takes the damaged one's place, and the journals become the newest runs.
  Status keep_places() {
    for (auto& [id, keyspace] : state_.keyspaces) {
      TAMIS_TRY(const ShapeEdit edit, replace_damaged(id, keyspace.shape));
      TAMIS_TRY(keyspace.shape, keyspace.shape.with(edit));
    }
    TAMIS_TRY(const Flushes flushes, write_journals());
    for (const auto& [id, of_keyspace] : flushes) {
      ShapeEdit edit;
      for (const Tables& flush : of_keyspace) {
        const std::uint64_t run = next_number_++;
        for (const auto& table : flush) edit.added.push_back({0, run, table});
      }
      Shape& shape = state_.keyspaces.at(id).shape;
      TAMIS_TRY(shape, shape.with(edit));
    }
    return {};
  }

  Result<ShapeEdit> replace_damaged(KeyspaceId keyspace, const Shape& shape) {
    ShapeEdit edit;
    for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
      for (const Run& run : shape.levels[level]) {
        for (const auto& facts : run.tables) {
          if (is_sound(facts->number)) continue;
          edit.removed.push_back(facts->number);
          if (!is_chosen(facts->number)) continue;
          TAMIS_TRY(const auto anew, write_anew(facts->number, keyspace, level, run.id));
          if (anew != nullptr) edit.added.push_back({level, run.id, anew});
        }
      }
    }
    return edit;
  }

  /// Without a manifest: runs of level 0, in the order of their sequences.
  Status find_places() {
    std::map<KeyspaceId, Tables> tables;
    for (const std::uint64_t number : survey_.chosen) {
      const FoundTable& found = survey_.tables.at(number);
      if (is_sound(number)) {
        tables[found.keyspace].push_back(std::make_shared<const TableFacts>(found.properties->facts));
        continue;
      }
      TAMIS_TRY(std::shared_ptr<const TableFacts> anew, write_anew(number, found.keyspace, 0, 0));
      if (anew != nullptr) tables[found.keyspace].push_back(std::move(anew));
    }
    TAMIS_TRY(const Flushes flushes, write_journals());
    for (const auto& [id, of_keyspace] : flushes) {
      Tables& into = tables[id];
      for (const Tables& flush : of_keyspace) into.insert(into.end(), flush.begin(), flush.end());
    }
    for (auto& [id, of_keyspace] : tables) TAMIS_TRY_STATUS(find_places_in(id, std::move(of_keyspace)));
    return {};
  }

  Status find_places_in(KeyspaceId keyspace, Tables tables) {
    ShapeEdit edit;
    for (const std::vector<TableGroup>& layer : in_layers(std::move(tables))) {
      const std::uint64_t run = next_number_++;
      for (const TableGroup& group : layer) {
        TAMIS_TRY(const Tables merged, group.size() == 1 ? Result<Tables>(group) : merge(keyspace, group));
        for (const auto& table : merged) edit.added.push_back({0, run, table});
      }
    }
    edit.values_added = value_files_of(edit);
    TAMIS_TRY(state_.keyspaces.at(keyspace).shape, Shape{}.with(edit));
    return {};
  }

  /// Without a manifest, tables say which value files they need. One that is missing is listed too: its readers get an
  /// error, and so they do for what lies beyond the end of a file that was cut short.
  [[nodiscard]] std::vector<ValueFileFacts> value_files_of(const ShapeEdit& edit) const {
    std::map<std::uint64_t, std::uint64_t> live;
    for (const ShapeEdit::Added& added : edit.added) {
      for (const ValuesOfTable& values : added.facts->values_apart) live[values.file] += values.bytes;
    }
    std::vector<ValueFileFacts> files;
    for (const auto& [number, bytes] : live) {
      const auto found = survey_.value_files.find(number);
      const std::uint64_t there = found == survey_.value_files.end() ? 0 : found->second;
      files.push_back({.number = number, .file_bytes = std::max(there, kValueFileHeaderBytes + bytes)});
    }
    return files;
  }

  /// The report counts the entries of a first read. If the second returns fewer, the loss must not go unreported.
  static Status check_same(const std::string& name, std::uint64_t entries_told, std::uint64_t entries) {
    if (entries == entries_told) return {};
    return Status::io_error(fmt::format("{}: read {} entries, then {}; nothing was replaced; run repair again", name,
                                        entries_told, entries));
  }

  /// Null if none of it could be read.
  Result<std::shared_ptr<const TableFacts>> write_anew(std::uint64_t number, KeyspaceId keyspace, std::uint32_t level,
                                                       std::uint64_t run) {
    std::unique_ptr<TableBuilder> builder;
    const auto begin = [&]() -> Status {
      if (builder != nullptr) return {};
      TableSpec spec;
      spec.number = next_number_++;
      spec.path = table_path(directory_, spec.number);
      spec.identity = state_.identity;
      spec.keyspace = keyspace;
      spec.keyspace_name = state_.keyspaces.at(keyspace).name;
      spec.features = state_.features;
      spec.level = level;
      spec.run = run;
      spec.replaces = {number};
      spec.flushed_sequence = survey_.state.flushed_sequence;
      spec.created_unix_seconds = survey_.last_time / 1000;
      TAMIS_TRY(builder, TableBuilder::create(files_, spec));
      return {};
    };
    const auto take = [&](const Entry& entry) -> Status {
      TAMIS_TRY_STATUS(begin());
      return builder->add(entry, hasher_(entry.key));
    };
    const TableToSalvage table = table_to_salvage(survey_, directory_, number);
    TAMIS_TRY(Salvaged salvaged, salvage_entries(files_, table, take));
    TAMIS_TRY_STATUS(check_same(table.path, survey_.tables.at(number).salvaged_entries, salvaged.entries));
    if (!salvaged.range_deletes.empty()) TAMIS_TRY_STATUS(begin());
    if (builder == nullptr) return std::shared_ptr<const TableFacts>();
    builder->set_range_deletes(std::move(salvaged.range_deletes));
    TAMIS_TRY(TableFacts facts, builder->finish({.kind = "line", .bits_per_key = kBitsPerKey}));
    return std::shared_ptr<const TableFacts>(std::make_shared<const TableFacts>(std::move(facts)));
  }

  /// All memtables are flushed when they have become too large together.
  Result<Flushes> write_journals() {
    Flushes flushes;
    std::map<KeyspaceId, Memtable> memtables;
    std::size_t bytes = 0;
    const auto flush = [&]() -> Status {
      for (auto& [keyspace, memtable] : memtables) {
        TAMIS_TRY(Tables tables, write_tables(keyspace, *memtable.iterate(), memtable.range_deletes().all(), {}));
        flushes[keyspace].push_back(std::move(tables));
      }
      memtables.clear();
      bytes = 0;
      return {};
    };
    const auto take = [&](KeyspaceId keyspace, const Entry& entry) -> Status {
      const auto [found, is_new] = memtables.try_emplace(keyspace);
      Memtable& memtable = found->second;
      const std::size_t before = is_new ? 0 : memtable.memory_bytes();
      TAMIS_TRY_STATUS(memtable.reserve(1, entry.key.size() + entry.value.size()));
      if (entry.kind == EntryKind::kRangeDelete) {
        TAMIS_TRY_STATUS(memtable.prepare_range_delete(entry.key, entry.value));
      }
      insert_entry(memtable, entry, hasher_);
      bytes += memtable.memory_bytes() - before;
      return bytes < kMaxMemtableBytes ? Status() : flush();
    };
    TAMIS_TRY(const JournalsRead read, read_journals(files_, directory_, survey_.journals_to_read, take));
    TAMIS_TRY_STATUS(check_same(directory_ + ": the journals", survey_.report.journal_entries, read.entries));
    TAMIS_TRY_STATUS(flush());
    return flushes;
  }

  /// Of equal entries, the one in the table with the largest number stays.
  Result<Tables> merge(KeyspaceId keyspace, const TableGroup& group) {
    FileHandles handles(files_, kMaxOpenTables);
    TAMIS_TRY(const std::unique_ptr<BlockCache> cache, BlockCache::make({.capacity_bytes = 0}));
    MetadataBudget nothing(0);
    const TableContext context{directory_, state_.identity, &handles, cache.get(), &nothing, &nothing};
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<std::unique_ptr<EntryIterator>> runs;
    std::vector<std::uint64_t> replaces;
    std::vector<RangeTombstone> range_deletes;
    for (const auto& facts : group) {
      tables.push_back(std::make_unique<Table>(facts, context));
      replaces.push_back(facts->number);
      if (!facts->has_range_deletes_alone()) runs.push_back(tables.back()->iterate(false));
      if (facts->range_deletes == 0) continue;
      TAMIS_TRY(const auto fragments, tables.back()->range_deletes());
      range_deletes.insert(range_deletes.end(), fragments->begin(), fragments->end());
    }
    const std::unique_ptr<EntryIterator> merged = make_merging_iterator(std::move(runs));
    return write_tables(keyspace, *merged, std::move(range_deletes), std::move(replaces));
  }

  /// Drops only overwritten versions. Deletes stay, because other tables may hold older versions.
  Result<Tables> write_tables(KeyspaceId keyspace, EntryIterator& source, std::vector<RangeTombstone> range_deletes,
                              std::vector<std::uint64_t> replaces) {
    Run anything;
    auto bounds = std::make_shared<TableFacts>();
    bounds->largest_key.assign(kMaxKeyBytes, '\xff');
    anything.tables.push_back(std::move(bounds));
    const FilterPlanner filters({}, {}, 0, 0, 1, {.kind = "line", .memory_bytes = {}, .most_bytes = 1 << 30});
    RewriteSpec spec{.files = &files_, .directory = directory_, .identity = state_.identity, .hasher = &hasher_};
    spec.keyspace = {.id = keyspace, .name = state_.keyspaces.at(keyspace).name};
    spec.features = state_.features;
    spec.table_bytes = Options{}.table_bytes;
    spec.range_deletes = std::move(range_deletes);
    spec.replaced.others = std::move(replaces);
    spec.flushed_sequence = survey_.state.flushed_sequence;
    spec.now_unix_seconds = survey_.last_time / 1000;
    spec.filters = &filters;
    spec.snapshots = {Sequence{number_of(kMaxSequence) - 1}};
    spec.older_runs = {&anything};
    spec.new_number = [this] { return Result<std::uint64_t>(next_number_++); };
    TAMIS_TRY(RewriteResult result, rewrite(source, spec));
    return std::move(result.tables);
  }

  /// With its own journal, the new manifest needs none of the old ones, even while they still exist.
  Result<KnownJournalEnd> begin_journal() {
    const JournalHeader header{.kind = JournalKind::kWrites,
                               .store_id = state_.identity.store_id,
                               .number = next_number_++,
                               .salt = random_.next(),
                               .first_sequence = survey_.last_sequence + 1,
                               .term = state_.term,
                               .features = state_.features};
    TAMIS_TRY(const std::unique_ptr<JournalWriter> journal,
              JournalWriter::create(files_, {journal_path(directory_, header.number), header, 0}));
    TAMIS_TRY_STATUS(journal->close());
    return KnownJournalEnd{header.number, header.salt, journal->durable_offset()};
  }

  /// The names of journals, whose entries are now in tables, of manifests, and of tables and value files outside the
  /// new store.
  [[nodiscard]] std::vector<std::string> unneeded_files() const {
    const std::vector<std::uint64_t> live = table_numbers(state_);
    std::vector<std::string> names;
    for (const std::uint64_t number : survey_.journals) names.push_back(file_name_of(journal_path("", number)));
    for (const std::uint64_t number : survey_.manifests) names.push_back(file_name_of(manifest_path("", number)));
    for (const auto& [number, found] : survey_.tables) {
      if (!std::ranges::binary_search(live, number)) names.push_back(file_name_of(table_path("", number)));
    }
    const std::vector<std::uint64_t> live_values = value_file_numbers(state_);
    for (const auto& [number, bytes] : survey_.value_files) {
      if (!std::ranges::binary_search(live_values, number)) names.push_back(file_name_of(value_file_path("", number)));
    }
    return names;
  }

  FileSystem& files_;
  const std::string& directory_;
  const RepairSurvey survey_;
  RandomSource& random_;
  ManifestState state_;  // The new store's.
  std::uint64_t next_number_;
  KeyHasher hasher_;
};

}  // namespace

Status write_repaired_store(FileSystem& files, const std::string& directory, RepairSurvey survey,
                            RandomSource& random) {
  return RepairWriter(files, directory, std::move(survey), random).run();
}

}  // namespace tamis
