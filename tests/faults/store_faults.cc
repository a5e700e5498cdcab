#include "faults/store_faults.h"

#include <fmt/core.h>

#include <array>
#include <map>

#include "crash/store_crashes.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

constexpr std::array kHonestFaults = {FaultKind::kIoError,    FaultKind::kIoErrorAfterwards,
                                      FaultKind::kNoSpace,    FaultKind::kNoSpaceAfterwards,
                                      FaultKind::kShortWrite, FaultKind::kTooManyFiles};

/// Disk full and out of descriptors: faults that pass by themselves.
bool is_lack_of_room(FaultKind kind) { return kind != FaultKind::kIoError && kind != FaultKind::kIoErrorAfterwards; }

/// Whether calls that only read can fail.
bool spoils_reading(FaultKind kind) {
  return kind == FaultKind::kIoError || kind == FaultKind::kIoErrorAfterwards || kind == FaultKind::kTooManyFiles;
}

/// One run: the workload with its fault, and all checks.
class FaultRun {
 public:
  FaultRun(const Fault& fault, const StoreScript& script, std::uint64_t seed, StoreFaultCounts& counts)
      : fault_(fault), script_(script), faulty_(memory_, fault), counts_(counts), seed_(seed) {}

  /// False if it ended before the call that was to fail.
  bool run(const StoreFaultWatch& watch) {
    if (watch.crashed_calls > 0) {
      memory_.after_each_call([this, end = fault_.at_call + watch.crashed_calls](const MemoryDisk& disk, auto) {
        if (faulty_.calls() >= fault_.at_call && faulty_.calls() < end) crash_in_every_way(disk);
      });
    }
    {
      StoreWorkload workload(faulty_, ledger_, script_, seed_);
      workload.after_each_step([this](DB& db, const Status&) { check_reads(db); });
      workload.run();
      was_reached_ = faulty_.calls() >= fault_.at_call;
      faulty_.heal();
      memory_.after_each_call(nullptr);
      check_errors(workload);
      if (workload.db()) {
        go_on(*workload.db());
      } else {
        ++counts_.failed_openings;
      }
    }
    ++counts_.runs;
    counts_.fired += faulty_.fired() > 0 ? 1 : 0;
    crash_in_every_way(memory_.disk());
    if (const std::string path = synced_again(memory_.call_log()); !path.empty()) {
      violation(path + " was synced again after a failed sync");
    }
    return was_reached_;
  }

 private:
  void violation(const std::string& what) {
    counts_.violations.push_back(fmt::format("{}, seed {}, {}: {}", script_.name, seed_, to_text(fault_), what));
  }

  void check_errors(const StoreWorkload& workload) {
    if (faulty_.fired() == 0 && !workload.errors().empty()) {
      violation("without a fault: " + workload.errors().front().to_text());
    }
    for (const Status& error : workload.errors()) {
      const StatusCode code = error.code();
      if (code != StatusCode::kIoError && code != StatusCode::kOutOfSpace && code != StatusCode::kBusy) {
        violation("a failed call was reported as " + error.to_text());
      }
    }
    for (const std::string& what : workload.violations()) violation(what);
  }

  /// The running store shows what it acknowledged. A read may fail with its call, and then not again.
  void check_reads(DB& db) {
    if (faulty_.fired() == 0) return;
    Content found;
    const std::uint64_t fired = faulty_.fired();
    std::string unread = read_all(db, {}, found);
    if (!unread.empty() && faulty_.fired() > fired && spoils_reading(fault_.kind)) {
      if (fault_.sticky) return;
      unread = read_all(db, {}, found);
    }
    if (!unread.empty()) return violation("the running store: " + unread);
    if (found != ledger_.current()) {
      violation(fmt::format("the running store shows {}\ninstead of {}", to_text(found), to_text(ledger_.current())));
    }
  }

  /// The fault is over.
  void go_on(DB& db) {
    const std::string stopped = db.stats().background_error;
    counts_.stopped += stopped.empty() ? 0 : 1;
    const bool must_be_told = !stopped.empty() && !is_lack_of_room(fault_.kind);
    Status written = write(db, "one more");
    if (must_be_told) {
      if (written.ok()) violation("writes went on by themselves after: " + stopped);
      if (const Status resumed = db.resume(); !resumed.ok()) return violation("resume: " + resumed.to_text());
      ++counts_.resumed;
      written = write(db, "one more, resumed");
    } else {
      counts_.went_on += stopped.empty() ? 0 : 1;
    }
    if (!written.ok()) return violation("a write after the fault: " + written.to_text());
    if (const Status flushed = db.flush(); !flushed.ok()) return violation("a later flush: " + flushed.to_text());
    ledger_.all_durable();
    if (!db.stats().background_error.empty()) violation("still " + db.stats().background_error);
    check_reads(db);
    if (const Status closed = db.close(); !closed.ok()) violation("close: " + closed.to_text());
  }

  Status write(DB& db, const std::string& value) {
    Batch batch;
    batch.put("key04", value);
    batch.remove("key05");
    ledger_.tries(batch);
    Status written = db.write(batch, {.sync = true});
    if (written.ok()) ledger_.acknowledged(true);
    return written;
  }

  /// The next process finds the page cache, including pages whose sync failed; the next machine does not.
  void crash_in_every_way(const MemoryDisk& disk) {
    check_disk(disk, Crash::kProcess);
    for (const Loss loss : kAllLosses) {
      check_disk(disk.after_crash(loss, fault_.at_call * 31 + faulty_.calls()), Crash::kMachine);
    }
  }

  void check_disk(const MemoryDisk& disk, Crash crash) {
    const std::uint64_t hash = disk.content_hash();
    counts_.images.insert(hash);
    if (!checked_.insert(remix(hash) + ledger_.state_hash() + static_cast<std::uint64_t>(crash)).second) return;
    Content found;
    const std::string wrong = check_store(disk, ledger_, script_, crash, found);
    if (!wrong.empty())
      violation(fmt::format("opened by the next {}: {}", crash == Crash::kProcess ? "process" : "machine", wrong));
  }

  const Fault fault_;
  const StoreScript script_;
  CrashFileSystem memory_;
  FaultyFileSystem faulty_;
  StoreFaultCounts& counts_;
  const std::uint64_t seed_;
  StoreLedger ledger_;
  std::set<std::uint64_t> checked_;
  bool was_reached_ = false;
};

}  // namespace

std::span<const FaultKind> honest_faults() { return kHonestFaults; }

bool fail_store_call(const Fault& fault, const StoreScript& script, std::uint64_t seed, const StoreFaultWatch& watch,
                     StoreFaultCounts& counts) {
  return FaultRun(fault, script, seed, counts).run(watch);
}

std::string synced_again(const std::vector<std::string>& calls) {
  constexpr std::string_view kFailed = "failed sync ";
  constexpr std::string_view kSync = "sync ";
  constexpr std::string_view kSyncDirectory = "sync directory ";
  constexpr std::string_view kRename = "rename ";
  std::set<std::string> failed;
  std::map<std::string, std::string> renamed;  // The log names an open file as it was called when opened.
  const auto name_now = [&](const std::string& name) { return renamed.contains(name) ? renamed[name] : name; };
  for (const std::string& call : calls) {
    if (call.starts_with(kFailed)) {
      const std::string name = name_now(call.substr(kFailed.size()));
      if (!failed.insert(name).second) return name;
    } else if (call.starts_with(kSync) && !call.starts_with(kSyncDirectory)) {
      const std::string name = name_now(call.substr(kSync.size()));
      if (failed.contains(name)) return name;
    } else if (call.starts_with("create ") || call.starts_with("remove ")) {
      failed.erase(call.substr(7));  // A different file from here on.
      renamed.erase(call.substr(7));
    } else if (call.starts_with("empty ")) {
      failed.erase(call.substr(6));  // No page of the failed sync is left, and all its contents will be new.
    } else if (call.starts_with(kRename)) {
      const std::size_t space = call.find(' ', kRename.size());
      const std::string from = call.substr(kRename.size(), space - kRename.size());
      const std::string to = call.substr(space + 1);
      failed.erase(to);
      if (failed.erase(from) > 0) failed.insert(to);
      renamed[from] = to;
    }
  }
  return {};
}

}  // namespace tamis::test
