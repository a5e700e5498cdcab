// Lookups of keys at a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/sharded_counter.h"
#include "engine/expiry_clock.h"
#include "engine/keyspace_operator.h"
#include "engine/published_sequence.h"
#include "engine/read_view.h"
#include "entry/entry.h"
#include "entry/operand_chain.h"
#include "entry/visible.h"
#include "table/staged_lookup.h"
#include "tamis/db.h"

namespace tamis {

/// Gets that were answered.
struct ReadCounts {
  std::uint64_t absent = 0;
  std::uint64_t from_memtables = 0;
  std::uint64_t from_tables = 0;

  [[nodiscard]] std::uint64_t found() const { return from_memtables + from_tables; }
  [[nodiscard]] std::uint64_t all() const { return absent + found(); }
  ReadCounts& operator+=(const ReadCounts& other) {
    absent += other.absent;
    from_memtables += other.from_memtables;
    from_tables += other.from_tables;
    return *this;
  }
};

/// Answers gets from the current view, and counts them.
///
/// A lookup probes the memtables, then the runs of the version. First it reads only memory, inside an EpochGuard: no
/// mutex, no reference count, no allocation besides the value's. If it also needs the disk, it leaves the guard and
/// keeps its view (rule 10). A merge operand is kept, and the lookup goes on beneath it, until there is a value or
/// nothing (rule 31). `explain` runs the same code and records its steps.
///
/// Invariants:
///  1. The view is taken before the sequence (rule 9).
///  2. A multi_get reads all its keys from one view at one sequence and one time (rule 30). A get looks at the clock
///     only if it finds something that expires.
///  3. Each answered get is counted once: as absent, or by the place of its value.
///
/// Threads: any. The caller keeps the store open, and passes only snapshots of this store.
class Reader {
 public:
  /// `published` is the newest sequence that readers may see. All five outlive the reader.
  Reader(const CurrentView& view, const PublishedSequence& published, const KeyHasher& hasher,
         const ExpiryClock& expiry, const KeyspaceOperator& merge_operator)
      : view_(view), published_(published), hasher_(hasher), expiry_(expiry), merge_operator_(merge_operator) {}

  /// A view and a sequence. A follower passes its own; others read the current view.
  using KeptView = ViewAt<std::shared_ptr<const ReadView>>;

  // reader.cc
  Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options);
  Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options, const KeptView& moment);
  Result<bool> exists(std::string_view key, const ReadOptions& options);
  Result<bool> exists(std::string_view key, const ReadOptions& options, const KeptView& moment);
  // pinned_get.cc
  /// Whether the key is present. Copies the value unless it is large: then use get_pinned, for which this get counts.
  Result<bool> get_if_small(std::string_view key, PinnedValue& value, const ReadOptions& options, bool& is_large);
  /// The value keeps `owner` alive, which owns the block cache.
  Result<std::optional<PinnedValue>> get_pinned(std::string_view key, const ReadOptions& options,
                                                std::shared_ptr<const void> owner, const KeptView& moment,
                                                bool is_counted = false);
  // multi_get.cc
  std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                            const ReadOptions& options, const KeptView& moment);
  Status multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                   const ReadOptions& options, const KeptView& moment);
  Result<Explanation> explain(std::string_view key, const ReadOptions& options, const KeptView& moment);

  /// The snapshot's sequence, or the newest. Called after the view was taken.
  [[nodiscard]] Sequence sequence_for(const Snapshot* snapshot) const {
    return snapshot == nullptr ? published_.newest() : Sequence{snapshot->sequence()};
  }

  /// The view of this moment, and the snapshot's sequence or the newest.
  [[nodiscard]] KeptView begin_read(const Snapshot* snapshot) const {
    return view_.take_at([&] { return sequence_for(snapshot); });
  }
  /// The snapshot's time, or now; for a get that has found something that expires.
  [[nodiscard]] std::uint64_t time_for(const Snapshot* snapshot) const;
  /// For reads that fix their time when they begin (rule 30). `sequence` came from sequence_for.
  [[nodiscard]] Moment moment_for(const Snapshot* snapshot, Sequence sequence) const {
    return {sequence, snapshot == nullptr ? expiry_.time_of_read() : time_for(snapshot)};
  }

  [[nodiscard]] ReadCounts counts() const { return {absent_.sum(), from_memtables_.sum(), from_tables_.sum()}; }

 private:
  struct Answers;  // multi_get.cc

  /// Whether the key is present. `peek` returns the view and the sequence, inside an EpochGuard. `take` receives the
  /// value, which is valid during the call, and may fail; a value that is apart is read into take.room().
  template <typename Peek, typename Steps, typename Take>
  Result<bool> look_up(std::string_view key, const ReadOptions& options, Peek peek, Steps& steps, Take take);
  /// The rest of it, outside of the epoch.
  template <typename Steps, typename Take>
  Result<bool> look_up_outside(const ReadView& view, StagedLookup& staged, const ReadOptions& options, Steps& steps,
                               Take take);
  /// Reads the value if it is apart, folds it if it has operands, gives it to `take`, and counts the get.
  template <typename Steps, typename Take>
  Result<bool> answer(const ReadView& view, const StagedLookup& staged, Visible meaning, std::string_view value,
                      const ReadOptions& options, Steps& steps, Take take);
  // folded_lookup.cc
  /// The value of a key whose newest visible version is an operand. May read from disk: not inside an EpochGuard.
  template <typename Steps>
  Status fold(const ReadView& view, Lookup lookup, std::uint64_t time, bool fills_cache, Steps& steps,
              std::string& folded) const;
  /// Reads the value to which `pointer` points.
  template <typename Steps>
  static Status read_apart(const Version& version, std::string_view key, std::string_view pointer, Steps& steps,
                           std::string& to);
  /// What the answer is: kValue, kApart, kOperand or kDeleted, and `value` as visible() says. `load_time` returns the
  /// time of the read.
  template <typename LoadTime>
  static Visible meaning_of(const StagedLookup& staged, LoadTime load_time, std::string_view& value) {
    if (staged.answer != LookupAnswer::kFound) return Visible::kDeleted;
    return visible(staged.found, staged.lookup.sequence, load_time, value);
  }
  /// The same, and kDeleted if a range delete hides it.
  template <typename Steps>
  Result<Visible> meaning_in(const ReadView& view, StagedLookup& staged, const ReadOptions& options, Steps& steps,
                             std::string_view& value) const;
  /// Counts an answered get.
  void count_get(const StagedLookup& staged, bool is_value) {
    (!is_value ? absent_ : staged.table == nullptr ? from_memtables_ : from_tables_).add();
  }

  // multi_get.cc
  void get_all(std::span<const std::string_view> keys, const ReadOptions& options, const KeptView& moment,
               Answers& answers);
  void fold_all(const ReadView& view, bool fills_cache, Answers& answers) const;
  void get_group(const KeptView& moment, std::span<const std::string_view> keys, std::size_t first_number,
                 bool fills_cache, Answers& answers);
  std::size_t peek_group(const KeptView& moment, std::span<StagedLookup> group, Answers& answers);
  void find_group(const ReadView& view, std::span<StagedLookup> group, std::size_t unknown, bool fills_cache,
                  Answers& answers);

  const CurrentView& view_;
  const PublishedSequence& published_;
  const KeyHasher& hasher_;
  const ExpiryClock& expiry_;
  const KeyspaceOperator& merge_operator_;
  // Each get adds to one of them.
  ShardedCounter absent_;
  ShardedCounter from_memtables_;
  ShardedCounter from_tables_;
};

}  // namespace tamis
