#include "crash/manifest_workload.h"

#include <fmt/core.h>

#include <array>

#include "base/hash.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TableIdentity some_identity() {
  TableIdentity identity;
  identity.store_id.fill(std::byte{0x5a});
  identity.hash_key.fill(std::byte{0xa5});
  return identity;
}

/// Disk images after each call; each (image, promise) is checked once.
class Enumerator {
 public:
  Enumerator(const ManifestLedger& ledger, ManifestCrashes& found) : ledger_(ledger), found_(found) {}

  void crash(const MemoryDisk& disk, Loss loss, std::uint64_t seed, std::string_view when) {
    const MemoryDisk image = disk.after_crash(loss, seed);
    const std::uint64_t hash = image.content_hash();
    found_.images.insert(hash);
    if (!checked_.insert(remix(hash) + ledger_.state_hash()).second) return;
    const std::string violation = ledger_.check(image);
    if (violation.empty()) return;
    found_.violations.push_back(
        fmt::format("after \"{}\", lost {} (seed {}): {}", when, to_string(loss), seed, violation));
  }

 private:
  const ManifestLedger& ledger_;
  ManifestCrashes& found_;
  std::set<std::uint64_t> checked_;
};

}  // namespace

std::uint64_t ManifestLedger::state_hash() const {
  std::uint64_t hash = exists_ ? 1 : 0;
  for (const std::string& state : states_) hash = remix(hash + checksum64(as_bytes(state)));
  for (const std::string& end : ends_) hash = remix(hash + checksum64(as_bytes(end)));
  return hash;
}

/// Opening finds one of the possible states and writes nothing; the first commit makes that state durable.
std::string ManifestLedger::check(const MemoryDisk& disk) const {
  CrashFileSystem files(disk);
  SeededRandom salts(disk.content_hash());
  Result<std::unique_ptr<Manifest>> manifest = Manifest::open(files, kManifestFolder, salts);
  if (!manifest.ok()) {
    if (!exists_ && manifest.status().code() == StatusCode::kIoError) return {};
    return manifest.status().to_text();
  }
  if (!files.call_log().empty()) return "opening wrote: " + files.call_log().front();
  const ManifestText found = text_of(**manifest);
  if (!allows(found))
    return "opened a state that was neither committed last nor in flight: " + found.state + found.journal_end;
  if (const Status committed = (*manifest)->commit({}); !committed.ok()) return "next commit: " + committed.to_text();
  CrashFileSystem again(files.disk().after_crash(Loss::kEverything, 1));
  manifest = Manifest::open(again, kManifestFolder, salts);
  if (!manifest.ok()) return "second opening: " + manifest.status().to_text();
  if (text_of(**manifest) != found) return "a commit of nothing changed the state";
  return {};
}

void ManifestWorkload::run() {
  (void)files_.make_directory(kManifestFolder).ok();
  if (!files_.sync_directory("/").ok() || !create()) return;
  if (!commit_some(4, 5)) return;
  if (!commit_some(10, 5'000)) return;  // Larger than the minimum size at which a manifest rolls.
  if (!close_and_open() || !commit_some(3, 5)) return;
  if (!close_and_open() || !close_and_open()) return;
  if (!commit_some(2, 5) || !open() || !commit_some(2, 5)) return;  // Without a close.
  if (!renew() || !commit_some(2, 5)) return;
  close_and_open();
}

void ManifestWorkload::expect(bool condition, const std::string& what) {
  if (!condition) violations_.push_back(what);
}

bool ManifestWorkload::create() {
  ledger_.tries(text_of(ManifestState{.identity = some_identity()}, {}));
  for (int attempt = 0; attempt < 3; ++attempt) {
    Result<std::unique_ptr<Manifest>> made = Manifest::create(files_, kManifestFolder, some_identity(), salts_);
    if (made.ok()) {
      manifest_ = *std::move(made);
      ledger_.durable(text_of(*manifest_));
      has_written_ = true;
      return true;
    }
    if (attempt == 1 && heal_) heal_();
  }
  return false;
}

bool ManifestWorkload::commit_some(int count, std::size_t key_bytes) {
  for (int i = 0; i < count; ++i) {
    if (!commit(key_bytes)) return false;
  }
  return true;
}

bool ManifestWorkload::commit(std::size_t key_bytes) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    const ManifestEdit edit = some_edit(key_bytes);
    ManifestState next = manifest_->state();
    const Status fits = apply_edit(next, edit);
    expect(fits.ok(), "the workload's edit: " + fits.to_text());
    const ManifestText before = text_of(*manifest_);
    const ManifestText after = text_of(next, manifest_->known_journal_end());
    ledger_.tries(after);
    const Status status = manifest_->commit(edit);
    if (status.ok()) {
      ledger_.durable(after);
      has_written_ = true;
      expect(text_of(*manifest_) == after, "a committed edit is not the state");
      ++commits_;
      return true;
    }
    expect(text_of(*manifest_) == before, "a failed edit is the state");
    expect(manifest_->commit({}).to_text() == status.to_text(), "a commit after a failed one did not fail as it did");
    if (!renew()) return false;
  }
  return false;
}

bool ManifestWorkload::renew() {
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (manifest_->renew().ok()) {
      ledger_.durable(text_of(*manifest_));
      has_written_ = true;
      return true;
    }
    if (attempt == 1 && heal_) heal_();
  }
  expect(!heal_, "renew fails though nothing else does any more");
  return false;
}

bool ManifestWorkload::close_and_open() {
  const KnownJournalEnd end{random_.below(3), random_.next(), random_.next()};
  const ManifestText after = text_of(manifest_->state(), end.number == 0 ? manifest_->known_journal_end() : end);
  ledger_.tries(after);
  // A manifest that was only read is closed without a call. If its writer could not sync the folder, CURRENT may be
  // only in the page cache, and stays so.
  const bool writes = end.number != 0 || has_written_;
  if (manifest_->close(end).ok() && writes) ledger_.durable(after);
  expect(!manifest_->commit({}).ok(), "a commit after close succeeds");
  return open();
}

bool ManifestWorkload::open() {
  manifest_.reset();
  has_written_ = false;
  for (int attempt = 0; attempt < 3; ++attempt) {
    Result<std::unique_ptr<Manifest>> opened = Manifest::open(files_, kManifestFolder, salts_);
    if (opened.ok()) {
      manifest_ = *std::move(opened);
      expect(ledger_.allows(text_of(*manifest_)), "opened a state that was neither committed last nor in flight");
      return true;
    }
    if (attempt == 1 && heal_) heal_();
  }
  expect(!heal_, "open fails though nothing else does any more");
  return false;
}

/// Changes one or two keyspaces, creates one now and then, and drops one; raises the numbers.
ManifestEdit ManifestWorkload::some_edit(std::size_t key_bytes) {
  constexpr std::size_t kMostKeyspaces = 3;
  const ManifestState& state = manifest_->state();
  ManifestEdit edit;
  edit.keyspaces[kDefaultKeyspace] = some_change(state.keyspaces.at(kDefaultKeyspace), key_bytes);
  const auto& [last, keyspace] = *state.keyspaces.rbegin();
  if (state.keyspaces.size() > kMostKeyspaces) {
    edit.dropped = {last};
  } else if (random_.below(3) == 0) {
    KeyspaceEdit& created = edit.keyspaces[KeyspaceId{state.next_keyspace}];
    created = some_change({}, key_bytes);
    created.created = {.name = fmt::format("keyspace {}", state.next_keyspace), .options = "codec=none\n"};
  } else {
    edit.keyspaces[last] = some_change(keyspace, key_bytes);
  }
  edit.reserved_numbers = next_table_;
  if (random_.coin()) edit.first_journal = state.first_journal + 1;
  if (random_.below(4) == 0) edit.term = state.term + 1;
  return edit;
}

/// Adds a table or two, removes those beyond three or, when keys are long, all.
KeyspaceEdit ManifestWorkload::some_change(const KeyspaceState& keyspace, std::size_t key_bytes) {
  KeyspaceEdit edit;
  std::size_t stay = key_bytes < 1000 ? 3 : 0;
  for (const std::vector<Run>& level : keyspace.shape.levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        if (stay > 0) {
          --stay;
        } else {
          edit.shape.removed.push_back(table->number);
        }
      }
    }
  }
  for (std::uint64_t i = 0; i <= random_.below(2); ++i) {
    TableFacts facts;
    facts.number = next_table_++;
    facts.file_bytes = random_.below(1'000'000);
    facts.smallest_key = std::string(key_bytes, static_cast<char>(random_.below(256)));
    facts.largest_key = facts.smallest_key + "x";
    const auto number = facts.number;
    edit.shape.added.push_back(
        {static_cast<std::uint32_t>(random_.below(3)), number, std::make_shared<const TableFacts>(std::move(facts))});
  }
  if (random_.coin()) edit.flushed_sequence = keyspace.flushed_sequence + random_.below(100);
  return edit;
}

ManifestCrashes crash_manifest_everywhere(std::uint64_t seed, int ways, std::optional<Fault> fault) {
  ManifestCrashes found;
  ManifestLedger ledger;
  Enumerator enumerator(ledger, found);
  CrashFileSystem memory;
  std::uint64_t next_seed = base_seed(1);
  memory.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    for (const Loss loss : kAllLosses) {
      const bool is_random = loss != Loss::kEverything && loss != Loss::kNothing;
      for (int i = 0; i < (is_random ? ways : 1); ++i) {
        enumerator.crash(disk, loss, next_seed++, fmt::format("workload {}: {}", seed, call));
      }
    }
  });
  FaultyFileSystem healthy(memory);
  FaultyFileSystem lying(memory, fault.value_or(Fault{}));
  ManifestWorkload workload(fault ? lying : healthy, ledger, seed);
  workload.run();
  found.runs = 1;
  found.commits = workload.commits();
  found.manifests = workload.last_number();
  found.violations.insert(found.violations.end(), workload.violations().begin(), workload.violations().end());
  return found;
}

namespace {

/// One run; false if it ended before the call that was to fail.
bool fail_call(const Fault& fault, std::uint64_t seed, ManifestCrashes& found) {
  constexpr std::uint64_t kCallsWatched = 24;  // Long enough for a renewal.
  CrashFileSystem memory;
  FaultyFileSystem faulty(memory, fault);
  ManifestLedger ledger;
  ManifestCrashes run;
  Enumerator enumerator(ledger, run);
  memory.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    if (faulty.calls() < fault.at_call || faulty.calls() >= fault.at_call + kCallsWatched) return;
    const Loss loss = kAllLosses[faulty.calls() % kAllLosses.size()];
    enumerator.crash(disk, loss, fault.at_call * 31 + faulty.calls(), call);
  });
  ManifestWorkload workload(faulty, ledger, seed, [&] { faulty.heal(); });
  workload.run();
  memory.after_each_call(nullptr);
  for (const Loss loss : kAllLosses) enumerator.crash(memory.disk(), loss, fault.at_call, "end");
  ++found.runs;
  found.fired += faulty.fired() > 0 ? 1 : 0;
  found.images.insert(run.images.begin(), run.images.end());
  run.violations.insert(run.violations.end(), workload.violations().begin(), workload.violations().end());
  for (const std::string& violation : run.violations) {
    found.violations.push_back(fmt::format("workload {}, {}: {}", seed, to_text(fault), violation));
  }
  return faulty.calls() >= fault.at_call;
}

}  // namespace

void fail_manifest_calls(std::uint64_t seed, std::uint64_t step, ManifestCrashes& crashes) {
  constexpr std::array kKinds = {FaultKind::kIoError,    FaultKind::kIoErrorAfterwards,
                                 FaultKind::kNoSpace,    FaultKind::kNoSpaceAfterwards,
                                 FaultKind::kShortWrite, FaultKind::kTooManyFiles};
  std::uint64_t way = 0;  // Each mode starts at a different call, so that together they cover all.
  for (const FaultKind kind : kKinds) {
    for (const bool sticky : {false, true}) {
      for (std::uint64_t call = 1 + way++ % step; fail_call({kind, call, sticky}, seed, crashes);) call += step;
    }
  }
}

}  // namespace tamis::test
