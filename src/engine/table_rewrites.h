// Flushes and compactions of one tree.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "compaction/policy.h"
#include "compaction/rewriter.h"
#include "engine/catalog.h"
#include "engine/live_handles.h"
#include "engine/published_sequence.h"
#include "engine/store_context.h"
#include "engine/tree.h"
#include "tamis/status.h"

namespace tamis {

/// Writes new tables from memtables or from other tables, and installs them: tables durable, then the manifest, then
/// the view.
///
/// Threads: one flush at a time, and one compaction at a time beside it.
class TableRewrites {
 public:
  TableRewrites(const StoreContext& context, Catalog& catalog, Tree& tree, const PublishedSequence& published,
                const LiveHandles& handles)
      : context_(context), catalog_(catalog), tree_(tree), published_(published), handles_(handles) {}

  /// Flushes the oldest sealed memtable.
  Status flush(const SealedMemtable& sealed);
  /// `is_cancelled` is asked now and then; true ends it with kClosed.
  Status execute(const CompactionPlan& plan, const std::function<bool()>& is_cancelled);

  struct Counts {
    std::uint64_t flushes = 0;
    std::uint64_t compactions = 0;
    std::uint64_t moves = 0;
    std::uint64_t bytes_written = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  Status move(const CompactionPlan& plan, const Shape& shape);
  Status merge(const CompactionPlan& plan, const Version& version, const std::function<bool()>& is_cancelled);
  RewriteSpec spec_for(const Shape& shape, std::uint32_t level, std::uint64_t run);
  Result<RewriteResult> write_tables(EntryIterator& source, const RewriteSpec& spec);
  Result<std::shared_ptr<const TableFacts>> facts_of(const Shape& shape, std::uint64_t number) const;

  const StoreContext& context_;
  Catalog& catalog_;
  Tree& tree_;
  const PublishedSequence& published_;
  const LiveHandles& handles_;
  std::atomic<std::uint64_t> flushes_ = 0;
  std::atomic<std::uint64_t> compactions_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
};

}  // namespace tamis
