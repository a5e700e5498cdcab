#include "compaction/rewriter.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "compaction/value_sink.h"
#include "entry/drop_rule.h"
#include "filter/filter_kind.h"
#include "io/file_names.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEntriesPerQuestion = 1024;  // Between polls of is_cancelled: well below a millisecond.
constexpr std::size_t kMaxOverlappedTables = 10;     // Limits the cost of pushing an output down; LevelDB's figure.

/// Tests ascending keys against a run, so that a test costs a comparison and not a search.
class AscendingBounds {
 public:
  explicit AscendingBounds(const Run& run) : tables_(run.tables) {}

  /// Whether the key lies in a table's bounds.
  bool may_contain(std::string_view key) {
    while (at_ < tables_.size() && tables_[at_]->largest_key < key) ++at_;
    return at_ < tables_.size() && tables_[at_]->smallest_key <= key;
  }

 private:
  std::span<const std::shared_ptr<const TableFacts>> tables_;
  std::size_t at_ = 0;  // The first table that does not end before the last key tested.
};

/// The number of tables in the next level's run that the current table overlaps.
class NextLevelOverlap {
 public:
  explicit NextLevelOverlap(const Run* run) {
    if (run != nullptr) tables_ = run->tables;
  }

  /// Whether a table that ends with this key, which must ascend, would overlap too many.
  bool is_too_much(std::string_view key) {
    while (end_ < tables_.size() && tables_[end_]->smallest_key <= key) ++end_;
    return end_ - begin_ > kMaxOverlappedTables;
  }
  /// The next table begins with this key.
  void begin(std::string_view key) {
    while (begin_ < tables_.size() && tables_[begin_]->largest_key < key) ++begin_;
    end_ = std::max(begin_, end_);
  }

 private:
  std::span<const std::shared_ptr<const TableFacts>> tables_;
  std::size_t begin_ = 0;  // The first table that does not end before the current table begins.
  std::size_t end_ = 0;    // The first table that begins after the last key tested.
};

/// The cost of a table's filter per key: in the file, and in memory during the build.
struct FilterCost {
  std::uint64_t bits_per_key = 0;
  std::uint64_t build_bytes_per_key = 8;
};

FilterCost filter_cost(const RewriteSpec& spec) {
  constexpr std::uint64_t kTypicalKeys = 1 << 16;
  constexpr std::uint64_t kSpareBytes = 8;  // For the list of hashes, which doubles when full.
  FilterCost cost;
  if (spec.filters == nullptr) return cost;
  const FilterChoice choice = spec.filters->choose(kTypicalKeys);
  cost.bits_per_key = static_cast<std::uint64_t>(choice.bits_per_key) + 1;
  const FilterKind* const kind = find_filter_kind(choice.kind);
  if (kind != nullptr) cost.build_bytes_per_key = kind->info.build_bytes_per_key + kSpareBytes;
  return cost;
}

/// One rewrite: which entries are kept, how they are written, and where tables end.
///
/// Invariants:
///  1. All versions of a key are in one table, so output tables do not overlap.
///  2. Every file in begun_ was created here and is in no manifest.
class Rewriter {
 public:
  Rewriter(EntryIterator& source, const RewriteSpec& spec)
      : source_(source),
        spec_(spec),
        filter_cost_(filter_cost(spec)),
        next_level_(spec.next_level),
        values_(spec, begun_) {
    TAMIS_CHECK(!spec.snapshots.empty());
    TAMIS_INVARIANT(std::ranges::is_sorted(spec.snapshots));
    for (const Run* run : spec.older_runs) older_.emplace_back(*run);
  }

  Status write_all();
  void remove_files();
  RewriteResult take_result() { return std::move(result_); }

 private:
  void begin_key(std::string_view key);
  bool is_kept(const Entry& entry);
  [[nodiscard]] Entry as_written(const Entry& entry) const;
  Status keep(const Entry& entry);
  [[nodiscard]] bool should_cut(std::string_view key);
  Status begin_table();
  enum class Position : std::uint8_t { kInside, kLast };
  Status finish_table(Position position);
  [[nodiscard]] std::vector<std::uint64_t> replaced_by_table(Position position) const;

  EntryIterator& source_;
  const RewriteSpec& spec_;
  const FilterCost filter_cost_;
  std::vector<AscendingBounds> older_;
  NextLevelOverlap next_level_;

  std::string key_;  // The current key.
  bool has_key_ = false;
  std::uint64_t hash_ = 0;
  std::optional<Sequence> newer_;  // Of the previous version, kept or not.
  bool is_key_written_ = false;

  std::unique_ptr<TableBuilder> table_;
  ValueSink values_;
  std::vector<std::string> begun_;
  std::uint64_t kept_ = 0;
  std::uint64_t first_output_ = 0;
  RewriteResult result_;
};

Status Rewriter::write_all() {
  for (source_.seek_to_first(); source_.valid(); source_.step()) {
    if (result_.entries_read % kEntriesPerQuestion == 0 && spec_.is_cancelled && spec_.is_cancelled()) {
      return Status::closed("the rewrite was cancelled");
    }
    const Entry entry = source_.entry().plain();
    ++result_.entries_read;
    if (!has_key_ || entry.key != key_) begin_key(entry.key);
    const bool stays = is_kept(entry);
    newer_ = entry.sequence;
    if (!stays) {
      ++result_.entries_dropped;
      continue;
    }
    TAMIS_TRY(const Entry placed, values_.place(as_written(entry)));
    TAMIS_TRY_STATUS(keep(placed));
  }
  TAMIS_TRY_STATUS(source_.status());
  TAMIS_TRY_STATUS(values_.finish(result_));
  if (table_ != nullptr) TAMIS_TRY_STATUS(finish_table(Position::kLast));

  std::uint64_t written = 0;
  for (const auto& table : result_.tables) written += table->entries;
  TAMIS_CHECK(written == kept_ && written + result_.entries_dropped == result_.entries_read);
  return {};
}

void Rewriter::begin_key(std::string_view key) {
  TAMIS_INVARIANT(!has_key_ || key_ < key);
  key_ = key;
  has_key_ = true;
  hash_ = (*spec_.hasher)(key);
  newer_.reset();
  is_key_written_ = false;
}

/// Rule 17.
bool Rewriter::is_kept(const Entry& entry) {
  switch (fate_of(entry.kind, entry.sequence, newer_, spec_.snapshots)) {
    case VersionFate::kKeep: return true;
    case VersionFate::kDrop: return false;
    case VersionFate::kDropIfNothingOlder: break;
  }
  return std::ranges::any_of(older_, [&](AscendingBounds& run) { return run.may_contain(entry.key); });
}

/// A value that every reader sees, with nothing older anywhere, needs no sequence: 0 takes a byte and compresses well.
/// The drop rule ensures that it is the newest one the oldest snapshot sees: it drops all others of that stripe.
Entry Rewriter::as_written(const Entry& entry) const {
  Entry written = entry;
  const bool all_see_it = entry.sequence <= spec_.snapshots.front();
  const bool is_put = entry.kind == EntryKind::kPut || entry.kind == EntryKind::kPutApart;
  if (older_.empty() && all_see_it && is_put) written.sequence = Sequence{0};
  return written;
}

Status Rewriter::keep(const Entry& entry) {
  if (!is_key_written_ && table_ != nullptr && should_cut(entry.key)) {
    TAMIS_TRY_STATUS(finish_table(Position::kInside));
  }
  if (table_ == nullptr) TAMIS_TRY_STATUS(begin_table());
  is_key_written_ = true;
  ++kept_;
  return table_->add(entry, hash_);
}

/// At the target size, filter included, and where building the filter would exceed its memory.
bool Rewriter::should_cut(std::string_view key) {
  const std::uint64_t keys = table_->keys();
  return table_->estimated_bytes() + keys * filter_cost_.bits_per_key / 8 >= spec_.table_bytes ||
         keys * filter_cost_.build_bytes_per_key >= spec_.filter_build_bytes || next_level_.is_too_much(key);
}

Status Rewriter::begin_table() {
  TAMIS_TRY(const std::uint64_t number, spec_.new_number());
  if (first_output_ == 0) first_output_ = number;
  const bool replaces_tables = !spec_.inputs.empty() || !spec_.replaces.empty();
  TableSpec table = {.path = table_path(spec_.directory, number),
                     .number = number,
                     .identity = spec_.identity,
                     .keyspace = spec_.keyspace,
                     .keyspace_name = spec_.keyspace_name,
                     .features = spec_.features,
                     .block_bytes = spec_.block_bytes,
                     .codec = spec_.codec,
                     .prefix_rule = spec_.prefix_rule,
                     .level = spec_.output_level,
                     .run = spec_.output_run,
                     .rewrite = replaces_tables ? first_output_ : 0,
                     .flushed_sequence = spec_.flushed_sequence,
                     .created_unix_seconds = spec_.now_unix_seconds,
                     .oldest_delete_unix_seconds = spec_.oldest_delete_unix_seconds};
  TAMIS_TRY_STATUS(note_begun(*spec_.files, table.path, begun_));
  TAMIS_TRY(table_, TableBuilder::create(*spec_.files, std::move(table)));
  next_level_.begin(key_);
  return {};
}

/// Inputs between the last output's end and this one's. An input of which nothing is left overlaps no output, yet it
/// was replaced: gaps count to the output behind them, the end to the last.
std::vector<std::uint64_t> Rewriter::replaced_by_table(Position position) const {
  std::vector<std::uint64_t> replaced = spec_.replaces;
  for (const auto& input : spec_.inputs) {
    const bool ends_before = !result_.tables.empty() && input->largest_key <= result_.tables.back()->largest_key;
    const bool begins_behind = position == Position::kInside && input->smallest_key > table_->last_key();
    if (!ends_before && !begins_behind) replaced.push_back(input->number);
  }
  return replaced;
}

Status Rewriter::finish_table(Position position) {
  table_->set_replaces(replaced_by_table(position));
  const FilterChoice filter = spec_.filters != nullptr ? spec_.filters->choose(table_->keys()) : FilterChoice();
  TAMIS_TRY(TableFacts facts, table_->finish(filter));
  table_.reset();
  TAMIS_CHECK(result_.tables.empty() || result_.tables.back()->largest_key < facts.smallest_key);
  result_.bytes_written += facts.file_bytes;
  result_.tables.push_back(std::make_shared<const TableFacts>(std::move(facts)));
  return {};
}

/// Best effort: what stays is in no manifest, and opening the store removes it (rule 19).
void Rewriter::remove_files() {
  table_.reset();
  values_.abandon();
  for (const std::string& path : begun_) {
    const Status ignored = spec_.files->remove(path);
    static_cast<void>(ignored);
  }
}

}  // namespace

Result<RewriteResult> rewrite(EntryIterator& source, const RewriteSpec& spec) {
  Rewriter rewriter(source, spec);
  Status status;
  try {
    status = rewriter.write_all();
  } catch (const std::bad_alloc&) {  // Only the files begun here have changed.
    status = Status::out_of_space(fmt::format("{}: no memory to write a table", spec.directory));
  }
  if (!status.ok()) {
    rewriter.remove_files();
    return status;
  }
  return rewriter.take_result();
}

}  // namespace tamis
