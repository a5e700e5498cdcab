// Flushes and compactions.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cache/block_cache.h"
#include "compaction/policy.h"
#include "compaction/rewriter.h"
#include "engine/catalog.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/live_handles.h"
#include "engine/published_sequence.h"
#include "engine/shared_work.h"
#include "engine/store_context.h"
#include "engine/write_limit.h"
#include "entry/changes.h"
#include "entry/empty_ranges.h"
#include "tamis/status.h"

namespace tamis {

/// Writes new tables from memtables or from other tables, and installs them: tables durable, then the manifest, then
/// the view.
///
/// Threads: one flush at a time, and beside it compactions that do not meet (rule 47).
class TableRewrites {
 public:
  TableRewrites(const StoreContext& context, Catalog& catalog, const Journals& journals, Keyspaces& keyspaces,
                const PublishedSequence& published, const LiveHandles& handles, EmptyRanges& empty_ranges,
                SharedWork& work, BlockCache& cache)
      : context_(context),
        catalog_(catalog),
        journals_(journals),
        keyspaces_(keyspaces),
        published_(published),
        handles_(handles),
        empty_ranges_(empty_ranges),
        work_(work),
        cache_(cache),
        limit_(context.options.background_bytes_per_second) {}

  /// Flushes the oldest sealed memtables of these trees, each tree's at most once, in one edit. kClosed if one of them
  /// has been dropped.
  Status flush(std::span<const SealedOfTree> flushes);
  /// Writes the changes to tables of level 0, which are durable on return and visible when the edits are installed.
  /// Change i has the sequence first + i. Everything before is in tables; all keyspaces exist. In large_commit.cc.
  Result<std::vector<TreeChange>> write_changes(const Changes& changes, Sequence first);
  /// Records which journals are still needed.
  Status release_journals() { return keyspaces_.install({}, journals_after({})); }
  /// `is_cancelled` is asked now and then; true ends it with kClosed.
  Status execute(OpenKeyspace& keyspace, const CompactionPlan& plan, const std::function<bool()>& is_cancelled);

  /// Entries that are due by then have expired for every reader; 0 if nothing expires. Advances the horizon.
  [[nodiscard]] std::uint64_t expired_by() const;
  /// Removes the tables that range deletes cover whole and that are free, unread (rule 27). False if there are none.
  Result<bool> remove_covered(OpenKeyspace& keyspace, const std::function<bool(std::uint64_t table)>& is_free);

  struct Counts {
    std::uint64_t tables_expired = 0;
    std::uint64_t flushes = 0;
    std::uint64_t compactions = 0;
    std::uint64_t moves = 0;
    std::uint64_t bytes_written = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  /// Writes a run of level 0. `newer` are runs that are newer than those of the version, newest first.
  Result<RewriteResult> write_run(const OpenKeyspace& keyspace, EntryIterator& source, std::uint64_t entries,
                                  std::vector<RangeTombstone> range_deletes, const std::deque<Run>& newer,
                                  KeyspaceEdit& edit);
  [[nodiscard]] ManifestEdit journals_after(std::span<const SealedOfTree> flushes) const;
  Status move(OpenKeyspace& keyspace, const CompactionPlan& plan, const Shape& shape);
  Status drop(OpenKeyspace& keyspace, const CompactionPlan& plan, const Shape& shape);
  Status merge(OpenKeyspace& keyspace, const CompactionPlan& plan, const Version& version,
               const std::function<bool()>& is_cancelled);
  RewriteSpec spec_for(const OpenKeyspace& keyspace, const TreeSettings& settings, const Shape& shape,
                       std::uint32_t level, std::uint64_t run);
  void begin_rewrite(RewriteSpec& spec);
  Status make_durable(const RewriteResult& result);
  void remove_unused(const RewriteResult& result);
  /// Opens what a part of a rewrite reads.
  using OpenSource = std::function<std::unique_ptr<EntryIterator>(const KeyRange& part, BlocksOpened& opened)>;
  /// Side by side if threads are idle.
  Result<RewriteResult> write_parts(const OpenSource& open, const RewriteSpec& spec, std::span<const KeyRange> parts,
                                    const std::function<bool()>& is_cancelled);
  /// Returns when so many bytes more are within the limit, or it is cancelled.
  void wait_for_limit(std::uint64_t bytes, const std::function<bool()>& is_cancelled);
  [[nodiscard]] std::vector<KeyRange> parts_of_plan(const Shape& shape, const CompactionPlan& plan,
                                                    const Options& options) const;
  Result<std::shared_ptr<const TableFacts>> facts_of(const Shape& shape, std::uint64_t number) const;

  const StoreContext& context_;
  Catalog& catalog_;
  const Journals& journals_;
  Keyspaces& keyspaces_;
  const PublishedSequence& published_;
  const LiveHandles& handles_;
  EmptyRanges& empty_ranges_;
  SharedWork& work_;
  BlockCache& cache_;
  WriteLimit limit_;
  std::atomic<std::uint64_t> tables_expired_ = 0;
  std::atomic<std::uint64_t> flushes_ = 0;
  std::atomic<std::uint64_t> compactions_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
};

}  // namespace tamis
