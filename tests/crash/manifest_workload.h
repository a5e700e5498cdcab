// A manifest at work, and a ledger of what a crash may leave of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/manifest_text.h"
#include "tree/manifest.h"

namespace tamis::test {

inline const std::string kManifestFolder = "/store";

/// What an opened manifest may say: the last durable state, or one tried after it. Only CURRENT holds the journal's
/// end, so after a failed close it may be present or not with any of these states.
///
/// Threads: one at a time.
class ManifestLedger {
 public:
  void tries(const ManifestText& text) {
    states_.insert(text.state);
    ends_.insert(text.journal_end);
  }
  void durable(const ManifestText& text) {
    states_ = {text.state};
    ends_ = {text.journal_end};
    exists_ = true;
  }

  /// Empty, or the error on this disk.
  [[nodiscard]] std::string check(const MemoryDisk& disk) const;
  [[nodiscard]] bool allows(const ManifestText& text) const {
    return states_.contains(text.state) && ends_.contains(text.journal_end);
  }
  [[nodiscard]] std::uint64_t state_hash() const;

 private:
  std::set<std::string> states_;
  std::set<std::string> ends_;
  bool exists_ = false;
};

/// Creates, commits, rolls, closes, continues, opens without a close, renews. When calls fail it continues like the
/// store: renew, after `heal` if it must, then commit again.
///
/// Threads: one at a time.
class ManifestWorkload {
 public:
  ManifestWorkload(FileSystem& files, ManifestLedger& ledger, std::uint64_t seed, std::function<void()> heal = {})
      : files_(files), ledger_(ledger), random_(seed), salts_(seed), heal_(std::move(heal)) {}

  void run();
  /// Errors that should not have happened.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }
  [[nodiscard]] std::uint64_t commits() const { return commits_; }
  [[nodiscard]] std::uint64_t last_number() const { return manifest_ == nullptr ? 0 : manifest_->number(); }

 private:
  bool create();
  bool commit_some(int count, std::size_t key_bytes);
  bool commit(std::size_t key_bytes);
  bool renew();
  bool close_and_open();
  bool open();
  ManifestEdit some_edit(std::size_t key_bytes);
  KeyspaceEdit some_change(const KeyspaceState& keyspace, std::size_t key_bytes);
  void expect(bool condition, const std::string& what);

  FileSystem& files_;
  ManifestLedger& ledger_;
  SplitMix64 random_;
  SeededRandom salts_;
  bool has_written_ = false;  // Since the manifest was created or opened.
  std::function<void()> heal_;
  std::unique_ptr<Manifest> manifest_;
  std::uint64_t next_table_ = 1;
  std::uint64_t commits_ = 0;
  std::vector<std::string> violations_;
};

/// What was tried and found.
struct ManifestCrashes {
  int runs = 0;
  int fired = 0;  // Of these, with at least one failed call.
  std::uint64_t commits = 0;
  std::uint64_t manifests = 0;
  std::set<std::uint64_t> images;
  std::vector<std::string> violations;
};

/// Runs a workload over a disk that crashes after every call; `fault` may make the disk lie.
ManifestCrashes crash_manifest_everywhere(std::uint64_t seed, int ways, std::optional<Fault> fault = std::nullopt);
/// Fails call N of a workload for every `step`-th N, with every kind of fault, once and from then on; crashes after the
/// calls that follow the fault, and at the end.
void fail_manifest_calls(std::uint64_t seed, std::uint64_t step, ManifestCrashes& crashes);

}  // namespace tamis::test
