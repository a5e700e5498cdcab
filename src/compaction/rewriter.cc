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
#include "entry/expiry.h"
#include "entry/operand_chain.h"
#include "filter/filter_kind.h"
#include "io/file_names.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEntriesPerQuestion = 1024;  // Between polls of is_cancelled: well below a millisecond.
constexpr std::uint64_t kBytesPerQuestion = 1 << 20;
constexpr Features kRangeDeletes = Features::of(Feature::kRangeDeletes);
constexpr Features kValuesApart = Features::of(Feature::kValuesApart);
constexpr std::size_t kMaxOverlappedTables = 10;  // Limits the cost of pushing an output down; LevelDB's figure.

/// Tests ascending keys against a run, so that a test costs a comparison and not a search.
class AscendingBounds {
 public:
  explicit AscendingBounds(const Run& run) : tables_(run.tables) {}

  /// Whether the key lies in a table's bounds.
  bool may_contain(std::string_view key) {
    while (at_ < tables_.size() && tables_[at_]->end().is_before(key)) ++at_;
    return at_ < tables_.size() && tables_[at_]->begin() <= key;
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
    while (end_ < tables_.size() && tables_[end_]->begin() <= key) ++end_;
    return end_ - begin_ > kMaxOverlappedTables;
  }
  /// The next table begins with this key.
  void begin(std::string_view key) {
    while (begin_ < tables_.size() && tables_[begin_]->end().is_before(key)) ++begin_;
    end_ = std::max(begin_, end_);
  }

 private:
  std::span<const std::shared_ptr<const TableFacts>> tables_;
  std::size_t begin_ = 0;  // The first table that does not end before the current table begins.
  std::size_t end_ = 0;    // The first table that begins after the last key tested.
};

/// Tests ascending keys for whether one of some others, which ascend too, lies between a table's first key and them.
class AscendingCuts {
 public:
  explicit AscendingCuts(std::span<const std::string> cuts) : cuts_(cuts) {}

  /// A table begins with this key.
  void begin(std::string_view key) {
    while (!cuts_.empty() && cuts_.front() <= key) cuts_ = cuts_.subspan(1);
  }
  [[nodiscard]] bool is_passed(std::string_view key) const { return !cuts_.empty() && cuts_.front() <= key; }

 private:
  std::span<const std::string> cuts_;
};

/// The cost of a table's filter per key: in the file, and in memory during the build.
struct FilterCost {
  std::uint64_t bits_per_key = 0;
  std::uint64_t build_bytes_per_key = 8;
};

FilterCost filter_cost(const RewriteSpec& spec) {
  constexpr std::uint64_t kTypicalKeys = 1 << 16;
  constexpr std::uint64_t kTypicalEntryBytes = 128;
  constexpr std::uint64_t kSpareBytes = 8;  // For the list of hashes, which doubles when full.
  FilterCost cost;
  if (spec.filters == nullptr) return cost;
  const FilterChoice choice = spec.filters->choose(kTypicalKeys, kTypicalKeys * kTypicalEntryBytes);
  cost.bits_per_key = static_cast<std::uint64_t>(choice.bits_per_key) + 1;
  const FilterKind* const kind = find_filter_kind(choice.kind);
  if (kind != nullptr) cost.build_bytes_per_key = kind->info.build_bytes_per_key + kSpareBytes;
  return cost;
}

/// The range deletes that must stay: those that an older run may need, and those that a reader does not see (rule 25).
std::vector<RangeTombstone> range_deletes_to_keep(const RewriteSpec& spec) {
  std::vector<RangeTombstone> fragments = fragments_of(spec.range_deletes, spec.snapshots);
  std::erase_if(fragments, [&](const RangeTombstone& fragment) {
    if (fragment.sequence > spec.snapshots.front()) return false;
    return std::ranges::none_of(spec.older_runs, [&](const Run* run) {
      return std::ranges::any_of(run->tables, [&](const auto& table) { return table->overlaps(fragment.range); });
    });
  });
  return fragments;
}

/// One rewrite: which entries are kept, how they are written, and where tables end.
///
/// Invariants:
///  1. All versions of a key are in one table, so output tables do not overlap.
///  2. Every file in begun_ was created here and is in no manifest.
///  3. operands_ are of the current key and of one stripe, and newer than the source's entry. They are written, folded
///     or not, before an older version of the key.
///  4. The tables share the kept range deletes: each has the parts from where it begins to where the next one does.
class Rewriter {
 public:
  Rewriter(EntryIterator& source, const RewriteSpec& spec)
      : source_(source),
        spec_(spec),
        filter_cost_(filter_cost(spec)),
        next_level_(spec.cuts.next_level),
        cuts_(spec.cuts.keys),
        range_deletes_(spec.range_deletes),
        features_(spec.features),
        values_(spec, begun_) {
    TAMIS_CHECK(!spec.snapshots.empty());
    TAMIS_INVARIANT(std::ranges::is_sorted(spec.snapshots));
    fragments_ = cut_fragments(range_deletes_to_keep(spec), spec.part);
    table_begin_ = spec.part.from;
    for (const Run* run : spec.older_runs) older_.emplace_back(*run);
  }

  Status write_all();
  void remove_files();
  RewriteResult take_result() { return std::move(result_); }

 private:
  [[nodiscard]] bool is_cancelled();
  void begin_key(std::string_view key);
  Status end_key();
  Status take(const Entry& entry);
  Status take_operand(const Entry& entry);
  Status fold_onto(const Entry* base, bool& is_folded);
  Status write_operands();
  [[nodiscard]] bool may_be_older(std::string_view key) {
    return std::ranges::any_of(older_, [&](AscendingBounds& run) { return run.may_contain(key); });
  }
  bool is_kept(const Entry& entry);
  [[nodiscard]] Entry as_expired(Entry entry) const;
  [[nodiscard]] bool is_covered(const Entry& entry) const;
  [[nodiscard]] Entry as_written(const Entry& entry) const;
  Status keep(const Entry& entry);
  [[nodiscard]] bool should_cut(std::string_view key);
  Status begin_table();
  enum class Position : std::uint8_t { kInside, kLast };
  Status finish_table(Position position);
  [[nodiscard]] std::vector<RangeTombstone> take_fragments(Position position);
  [[nodiscard]] std::vector<std::uint64_t> replaced_by_table(Position position, const KeyEnd& end) const;

  EntryIterator& source_;
  const RewriteSpec& spec_;
  const FilterCost filter_cost_;
  std::vector<AscendingBounds> older_;
  NextLevelOverlap next_level_;
  AscendingCuts cuts_;
  const RangeTombstones range_deletes_;
  std::vector<RangeTombstone> fragments_;  // Those that stay.
  std::string table_begin_;                // The tables before the current one have the fragments before this key.

  std::string key_;  // The current key.
  bool has_key_ = false;
  std::uint64_t hash_ = 0;
  std::optional<Sequence> newer_;  // Of the previous version that is no operand, kept or not.
  OperandChain operands_;
  bool is_key_written_ = false;

  std::unique_ptr<TableBuilder> table_;
  Features features_;  // Of tables begun from now on.
  ValueSink values_;
  std::vector<std::string> begun_;
  std::uint64_t kept_ = 0;
  std::uint64_t unasked_bytes_ = 0;  // Of values, since is_cancelled was polled.
  std::uint64_t rewrite_ = 0;        // The number that all outputs name.
  RewriteResult result_;
};

Status Rewriter::write_all() {
  const KeyRange& part = spec_.part;
  for (source_.seek({part.from}); source_.valid() && !part.ends_before(source_.entry().key); source_.step()) {
    if (is_cancelled()) return Status::closed("the rewrite was cancelled");
    const Entry entry = as_expired(source_.entry().plain());
    unasked_bytes_ += entry.value.size();
    ++result_.entries_read;
    if (!has_key_ || entry.key != key_) {
      TAMIS_TRY_STATUS(end_key());
      begin_key(entry.key);
    }
    TAMIS_TRY_STATUS(take(entry));
  }
  TAMIS_TRY_STATUS(source_.status());
  TAMIS_TRY_STATUS(end_key());
  TAMIS_TRY_STATUS(values_.finish(result_));
  if (table_ == nullptr && !fragments_.empty()) TAMIS_TRY_STATUS(begin_table());
  if (table_ != nullptr) TAMIS_TRY_STATUS(finish_table(Position::kLast));

  std::uint64_t written = 0;
  for (const auto& table : result_.tables) written += table->entries;
  TAMIS_CHECK(written == kept_ && written + result_.entries_dropped == result_.entries_read);
  return {};
}

bool Rewriter::is_cancelled() {
  if (result_.entries_read % kEntriesPerQuestion != 0 && unasked_bytes_ < kBytesPerQuestion) return false;
  unasked_bytes_ = 0;
  if (!spec_.calls.is_cancelled) return false;
  return spec_.calls.is_cancelled(result_.bytes_written + (table_ != nullptr ? table_->estimated_bytes() : 0));
}

void Rewriter::begin_key(std::string_view key) {
  TAMIS_INVARIANT(!has_key_ || key_ < key);
  key_ = key;
  has_key_ = true;
  hash_ = (*spec_.hasher)(key);
  newer_.reset();
  is_key_written_ = false;
}

Status Rewriter::take(const Entry& entry) {
  if (entry.kind == EntryKind::kMerge) return take_operand(entry);
  bool stays = is_kept(entry);
  newer_ = entry.sequence;
  if (stays && !operands_.empty()) {
    bool is_folded = false;
    TAMIS_TRY_STATUS(fold_onto(&entry, is_folded));
    if (!is_folded) TAMIS_TRY_STATUS(write_operands());
    stays = !is_folded;
  }
  if (stays) return keep(as_written(entry));
  ++result_.entries_dropped;
  return {};
}

/// Rule 31: an operand supersedes nothing. It waits for what is beneath it in its stripe.
Status Rewriter::take_operand(const Entry& entry) {
  const bool is_twice = !operands_.empty() && operands_.links().back().sequence == entry.sequence;
  if (is_twice || !is_kept(entry)) {
    ++result_.entries_dropped;
    return {};
  }
  const auto stripe = [&](Sequence sequence) { return stripe_of(sequence, spec_.snapshots); };
  if (!operands_.empty() && stripe(operands_.links().front().sequence) != stripe(entry.sequence)) {
    TAMIS_TRY_STATUS(write_operands());
  }
  return operands_.add(entry.value, entry.sequence);
}

/// Writes the operands as a value, if what is beneath them is known for all their readers: a value or a delete of the
/// same stripe, or nothing at all, anywhere (null). Not if that value expires later: then it is gone, and the operands
/// are not.
Status Rewriter::fold_onto(const Entry* base, bool& is_folded) {
  const Sequence newest = operands_.links().front().sequence;
  if (base != nullptr) {
    if (stripe_of(newest, spec_.snapshots) != stripe_of(base->sequence, spec_.snapshots)) return {};
    if (expires(base->kind)) return {};
  }
  std::string apart;
  if (base != nullptr && is_apart(base->kind)) {
    if (!spec_.values.read || !spec_.values.read(pointer_of(*base), base->key, apart).ok()) return {};
  }
  const bool has_value = base != nullptr && base->kind != EntryKind::kDelete;
  if (has_value) TAMIS_TRY_STATUS(operands_.add(is_apart(base->kind) ? apart : base->value, base->sequence));
  std::string folded;
  is_folded = operands_.fold(spec_.keyspace.merge_operator, folded).ok();
  if (has_value) operands_.remove_last();
  if (!is_folded) return {};
  result_.entries_dropped += operands_.size() - 1;
  operands_.clear();
  return keep(as_written({key_, folded, newest, EntryKind::kPut}));
}

/// As one operand, which is as new as the newest; or as they are, if they cannot be folded.
Status Rewriter::write_operands() {
  const OperandChain chain = std::exchange(operands_, {});
  std::string folded;
  if (chain.size() > 1 && chain.fold(spec_.keyspace.merge_operator, folded).ok()) {
    result_.entries_dropped += chain.size() - 1;
    return keep({key_, folded, chain.links().front().sequence, EntryKind::kMerge});
  }
  for (const OperandChain::Link& link : chain.links()) {
    TAMIS_TRY_STATUS(keep({key_, link.bytes, link.sequence, EntryKind::kMerge}));
  }
  return {};
}

Status Rewriter::end_key() {
  if (operands_.empty()) return {};
  bool is_folded = false;
  if (!may_be_older(key_)) TAMIS_TRY_STATUS(fold_onto(nullptr, is_folded));
  return is_folded ? Status() : write_operands();
}

/// Rules 28 to 30: what has expired for every reader is a delete.
Entry Rewriter::as_expired(Entry entry) const {
  if (!expires(entry.kind)) return entry;
  const std::size_t stripe = stripe_of(entry.sequence, spec_.snapshots);
  if (stripe >= spec_.expired_by.size() || load_expiring(entry.value).due > spec_.expired_by[stripe]) return entry;
  entry.kind = EntryKind::kDelete;
  entry.value = {};
  return entry;
}

/// Whether a range delete of the same stripe is newer.
bool Rewriter::is_covered(const Entry& entry) const {
  const std::size_t stripe = stripe_of(entry.sequence, spec_.snapshots);
  const Sequence last = stripe < spec_.snapshots.size() ? spec_.snapshots[stripe] : kMaxSequence;
  const RangeTombstone* const newest = range_deletes_.newest_covering(entry.key, last);
  return newest != nullptr && newest->sequence > entry.sequence;
}

/// Rule 17.
bool Rewriter::is_kept(const Entry& entry) {
  if (!range_deletes_.empty() && is_covered(entry)) return false;
  switch (fate_of(entry.kind, entry.sequence, newer_, spec_.snapshots)) {
    case VersionFate::kKeep: return true;
    case VersionFate::kDrop: return false;
    case VersionFate::kDropIfNothingOlder: break;
  }
  return may_be_older(entry.key);
}

/// A value that every reader sees, with nothing older anywhere, needs no sequence: 0 takes a byte and compresses well.
/// Nor does a finished fold; an operand does (rule 31).
/// The drop rule ensures that it is the newest one the oldest snapshot sees: it drops all others of that stripe.
Entry Rewriter::as_written(const Entry& entry) const {
  Entry written = entry;
  const bool may_be_zero = entry.sequence <= std::min(spec_.snapshots.front(), spec_.zeroed_up_to);
  const bool is_value = entry.kind != EntryKind::kDelete && entry.kind != EntryKind::kMerge;
  if (older_.empty() && may_be_zero && is_value) written.sequence = Sequence{0};
  return written;
}

/// A table names in its header what its entries need. So the first value that is to be apart begins a table, or stays
/// in this one if its key has begun.
Status Rewriter::keep(const Entry& entry) {
  const bool is_first_apart = values_.goes_apart(entry) && !features_.includes(kValuesApart);
  if (!is_key_written_ && table_ != nullptr && (is_first_apart || should_cut(entry.key))) {
    TAMIS_TRY_STATUS(finish_table(Position::kInside));
  }
  if (table_ == nullptr) {
    if (is_first_apart) features_ |= kValuesApart;
    TAMIS_TRY_STATUS(begin_table());
  }
  is_key_written_ = true;
  ++kept_;
  if (!features_.includes(kValuesApart)) return table_->add(entry, hash_);
  TAMIS_TRY(const Entry placed, values_.place(entry));
  return table_->add(placed, hash_);
}

/// At the target size, filter included, where building the filter would exceed its memory, and where the spec says so.
bool Rewriter::should_cut(std::string_view key) {
  const std::uint64_t keys = table_->keys();
  return table_->estimated_bytes() + keys * filter_cost_.bits_per_key / 8 >= spec_.table_bytes ||
         keys * filter_cost_.build_bytes_per_key >= spec_.cuts.filter_build_bytes || next_level_.is_too_much(key) ||
         cuts_.is_passed(key);
}

Status Rewriter::begin_table() {
  TAMIS_TRY(const std::uint64_t number, spec_.new_number());
  if (rewrite_ == 0) rewrite_ = spec_.replaced.rewrite != 0 ? spec_.replaced.rewrite : number;
  const bool replaces_tables = !spec_.replaced.inputs.empty() || !spec_.replaced.others.empty();
  TableSpec table = {.path = table_path(spec_.directory, number),
                     .number = number,
                     .identity = spec_.identity,
                     .keyspace = spec_.keyspace.id,
                     .keyspace_name = spec_.keyspace.name,
                     .features = features_ | (fragments_.empty() ? Features() : kRangeDeletes),
                     .block_bytes = spec_.block_bytes,
                     .codec = spec_.codec,
                     .prefix_rule = spec_.scan_filters.prefix_rule,
                     .range_filter_bits = spec_.scan_filters.range_filter_bits,
                     .level = spec_.output_level,
                     .run = spec_.output_run,
                     .rewrite = replaces_tables ? rewrite_ : 0,
                     .flushed_sequence = spec_.flushed_sequence,
                     .created_unix_seconds = spec_.now_unix_seconds,
                     .oldest_delete_unix_seconds = spec_.oldest_delete_unix_seconds,
                     .wrote_block = spec_.calls.wrote_block};
  TAMIS_TRY_STATUS(note_begun(*spec_.files, table.path, begun_));
  TAMIS_TRY(table_, TableBuilder::create(*spec_.files, std::move(table)));
  next_level_.begin(key_);
  cuts_.begin(key_);
  return {};
}

/// Inputs between the last output's end and this one's. An input of which nothing is left overlaps no output, yet it
/// was replaced: gaps count to the output behind them, the end to the last.
std::vector<std::uint64_t> Rewriter::replaced_by_table(Position position, const KeyEnd& end) const {
  std::vector<std::uint64_t> replaced = spec_.replaced.others;
  for (const auto& input : spec_.replaced.inputs) {
    if (spec_.replaced.rewrite != 0 && result_.tables.empty()) {
      replaced.push_back(input->number);
      continue;
    }
    const bool ends_before = !result_.tables.empty() && !(result_.tables.back()->end() < input->end());
    const bool begins_behind = position == Position::kInside && end.is_before(input->begin());
    if (!ends_before && !begins_behind) replaced.push_back(input->number);
  }
  return replaced;
}

/// Those of the current table. The next one begins with key_.
std::vector<RangeTombstone> Rewriter::take_fragments(Position position) {
  KeyRange keys{std::move(table_begin_), spec_.part.to};
  table_begin_ = key_;
  if (position == Position::kInside) keys.to = key_;
  return cut_fragments(fragments_, keys);
}

Status Rewriter::finish_table(Position position) {
  std::vector<RangeTombstone> fragments = take_fragments(position);
  KeyEnd end = KeyEnd::with(table_->last_key());
  if (!fragments.empty()) {
    const std::optional<std::string>& to = fragments.back().range.to;
    end = std::max(end, to ? KeyEnd::before(*to) : KeyEnd::nowhere());
  }
  table_->set_replaces(replaced_by_table(position, end));
  table_->set_range_deletes(std::move(fragments));
  const bool has_filter = spec_.filters != nullptr && table_->keys() > 0;
  const FilterChoice filter =
      has_filter ? spec_.filters->choose(table_->keys(), table_->estimated_bytes()) : FilterChoice();
  TAMIS_TRY(TableFacts facts, table_->finish(filter));
  table_.reset();
  TAMIS_CHECK(result_.tables.empty() || result_.tables.back()->end().is_before(facts.begin()));
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

void RewriteResult::add(const RewriteResult& part) {
  TAMIS_CHECK(tables.empty() || part.tables.empty() || tables.back()->end().is_before(part.tables.front()->begin()));
  tables.insert(tables.end(), part.tables.begin(), part.tables.end());
  values.insert(values.end(), part.values.begin(), part.values.end());
  entries_read += part.entries_read;
  entries_dropped += part.entries_dropped;
  bytes_written += part.bytes_written;
}

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
