// A store and its model, run together.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "model/model.h"
#include "model/operation.h"
#include "support/crash_file_system.h"
#include "support/interrupted_file_system.h"
#include "tamis/db.h"

namespace tamis::test {

/// How a store is opened for a run.
struct RunSpec {
  std::vector<Options> options = {{}};  ///< Each opening takes the next one.
  std::uint64_t seed = 1;
  bool runs_in_background = false;
  /// Without background threads, this seed determines when flushes and compactions run, and which operations happen in
  /// the middle of one. Without a seed they run whole, as soon as they are due.
  std::optional<std::uint64_t> schedule_seed = {};
};

/// A transaction of the store, and what the model knows of it.
///
/// Threads: one at a time.
struct ModelTransaction {
  enum class Outcome : std::uint8_t { kCommits, kConflicts, kEither };
  struct Saved {
    Savepoint savepoint;
    Model::Keyspaces view;
    std::size_t writes = 0;
  };

  [[nodiscard]] std::uint32_t existing(std::uint32_t keyspace) const;
  [[nodiscard]] bool has_written(std::uint32_t keyspace, std::string_view key) const;
  /// Whether its own writes say what the key is; merges alone do not.
  [[nodiscard]] bool knows(std::uint32_t keyspace, std::string_view key) const;
  /// What a commit must say.
  [[nodiscard]] Outcome outcome(const Model& model) const;

  Transaction store = {};
  Isolation isolation = Isolation::kSerializable;
  Model::Keyspaces view = {};   ///< The store as of its begin, and its own writes.
  Model::Keyspaces first = {};  ///< The store as of its begin.
  std::size_t begun = 0;        ///< The length of the model's log.
  std::vector<Change> own = {};
  std::vector<Saved> saved = {};
  // With the ids of keyspaces; empty at snapshot isolation.
  std::set<std::pair<std::uint32_t, std::string>> reads = {};
  std::vector<std::pair<std::uint32_t, Bounds>> scans = {};
};

/// Applies each operation to a store on an in-memory disk and to the model, and compares the answers.
///
/// With a schedule, a later operation may run between two calls of a flush or compaction: on its own thread, while the
/// rewriting one is paused. One thread runs at a time, so a run is reproducible.
///
/// Threads: one at a time.
class ModelRun {
 public:
  explicit ModelRun(RunSpec spec);
  ~ModelRun();
  ModelRun(const ModelRun&) = delete;
  ModelRun& operator=(const ModelRun&) = delete;

  /// Not ok if store and model disagree, or the store fails. The first call opens the store.
  Status run(std::span<const Operation> operations);
  Status run(const Operation& operation) { return run(std::span(&operation, 1)); }
  /// Compares the whole store with the whole model.
  Status compare_all();
  /// Covers all answers so far: the same for all options.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  /// What happened, to show that a run was useful.
  [[nodiscard]] std::uint64_t flushes() const { return work_.flushes; }
  [[nodiscard]] std::uint64_t compactions() const { return work_.compactions; }
  /// Operations that ran in the middle of a flush or compaction.
  [[nodiscard]] std::uint64_t interruptions() const { return interruptions_; }
  /// Tables that the run index ruled out, according to `explain`.
  [[nodiscard]] std::uint64_t ruled_out_by_run_index() const { return ruled_out_by_run_index_; }
  /// Operations begun so far.
  [[nodiscard]] std::size_t begun() const { return begun_; }
  /// Times that a follower was compared with the model.
  [[nodiscard]] std::uint64_t followed() const { return work_.followed; }
  /// What was done to the disk since its last crash.
  [[nodiscard]] std::vector<std::string> call_log() const { return files_->call_log(); }

 private:
  struct OpenIterator {
    Iterator store;
    ModelWalk model;
  };
  /// A write on its way, and the keyspaces that it goes to, as they were when it began.
  struct Write {
    const Operation& operation;
    std::vector<std::uint32_t> keyspaces = {};  // One for each change.
    std::vector<std::uint32_t> ids = {};
    std::uint64_t time = 0;
  };

  static constexpr const char* kDirectory = "/store";
  static constexpr std::uint64_t kBeginning = 1'700'000'000'000;
  struct Machine {
    std::atomic<std::uint64_t> clock = kBeginning;
    std::atomic<std::uint64_t> uptime = 0;
    std::uint64_t openings = 0;
    std::uint64_t copies = 0;
  };

  /// Since the store was opened.
  struct Asked {
    std::uint64_t gets = 0;
    std::uint64_t gets_found = 0;
    std::uint64_t writes = 0;
  };

  /// Of all openings.
  struct Work {
    std::uint64_t flushes = 0;
    std::uint64_t compactions = 0;
    std::uint64_t followed = 0;
  };

  // model_run.cc: writing, opening, closing and crashing.
  Status run_next();
  Status run_verb(const Operation& operation);
  Status write(const Operation& operation);
  Status pass_time(std::uint32_t milliseconds);
  [[nodiscard]] bool is_clock_ahead() const { return machine_.clock - kBeginning > machine_.uptime; }
  void apply(const Write& write);
  [[nodiscard]] bool has_lost_a_keyspace(const Write& write) const;
  Status make_keyspace(const Operation& operation);
  Status drop_keyspace(const Operation& operation);
  Status open_keyspaces();
  void interrupt();
  void apply_if_published();
  void make_disk(std::unique_ptr<CrashFileSystem> files);
  Status open();
  Status close();
  Status reopen();
  Status abandon();
  Status crash();
  Status crash_copy();
  Status read_only();
  Status repair();
  Status checkpoint();
  void drop_handles();
  /// Every keyspace has the same operator: that one is fixed.
  [[nodiscard]] Options options() const {
    Options options = spec_.options[machine_.openings % spec_.options.size()];
    options.merge_operator = "append";
    return options;
  }
  [[nodiscard]] Environment environment() const;

  // model_run_reads.cc
  Status get(const Operation& operation);
  Status get_into(const Operation& operation);
  Status get_pinned(const Operation& operation);
  Status multi_get(const Operation& operation);
  Status scan(const Operation& operation);
  Status open_iterator(const Operation& operation);
  Status move_iterator(const Operation& operation);
  Status walk(OpenIterator& iterator, const std::vector<Move>& moves);
  Status compare_position(const OpenIterator& iterator);
  Status follow(const Operation& operation);  // At no snapshot: those are the writer's.
  Status compare_with(DB& db);
  Status compare_scan(Iterator it, const Model::Map& map);
  [[nodiscard]] Iterator begin_scan(const Operation& operation);
  [[nodiscard]] Model::Target target(const Operation& operation) const {
    return model_.at(operation.keyspace, operation.slot);
  }
  /// Calls with the DB for the default keyspace, and with the handle of another one.
  template <typename Call>
  auto with(std::uint32_t keyspace_id, Call call) {
    return keyspace_id == 0 ? call(*db_) : call(handles_.at(keyspace_id));
  }
  [[nodiscard]] ReadOptions read_options(const Operation& operation) const;
  Status compare_answer(const Operation& operation, std::string_view key, const Result<bool>& found,
                        std::string_view value);
  void note(std::string_view answer);

  // model_run_transactions.cc
  Status run_in_transaction(const Operation& operation);
  Status get_in(ModelTransaction& tx, const Operation& operation);
  Status scan_in(ModelTransaction& tx, const Operation& operation);
  Status write_in(ModelTransaction& tx, const Operation& operation);
  Status commit(std::optional<ModelTransaction>& slot, const Operation& operation);
  [[nodiscard]] std::uint64_t live_snapshots() const;

  // model_run_reports.cc
  Status compact(const Operation& operation);
  Status verify();
  Status approximate_size(const Operation& operation);
  Status stats();
  Status explain(const Operation& operation);
  Status plan();
  void count_work();

  const RunSpec spec_;
  Machine machine_;
  Model model_;
  std::unique_ptr<CrashFileSystem> files_;
  std::unique_ptr<InterruptedFileSystem> interrupted_files_;
  std::optional<DB> db_;
  std::optional<DB> follower_;
  std::map<std::uint32_t, Keyspace> handles_;  // By id. Those of dropped keyspaces too, for snapshots.
  std::uint32_t newest_keyspace_ = 0;          // The largest id that was seen.
  std::array<std::optional<Snapshot>, Operation::kSlots> snapshots_;
  std::array<std::optional<OpenIterator>, Operation::kSlots> iterators_;
  std::array<std::optional<ModelTransaction>, 2> transactions_;  // The second at snapshot isolation.
  std::string buffer_;
  std::span<const Operation> coming_;
  const Write* writing_ = nullptr;  // The innermost write, while the store may be ahead of the model.
  SplitMix64 interruption_draws_;
  bool may_interrupt_ = false;  // Whether the current operation's rewrites may be interrupted.
  int depth_ = 0;               // How many rewrites are paused: a compaction, and a flush during it.
  Status inside_status_;
  std::uint64_t digest_ = 0;
  Work work_;
  std::uint64_t interruptions_ = 0;
  std::uint64_t ruled_out_by_run_index_ = 0;
  std::size_t begun_ = 0;
  Asked asked_;
};

/// The message of a run when store and model disagree.
Status disagreement(std::string what);

}  // namespace tamis::test
