#include "crash/store_crashes.h"

#include <fmt/core.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tamis::test {
namespace {

Result<DB> open_again(CrashFileSystem& files, const StoreScript& script, const StoreLedger& ledger) {
  Options options = options_of(script);
  options.create_if_missing = !ledger.is_created();
  return DB::open(std::string(kStore), options, environment_on(files, 7, ledger));
}

/// Every table on disk belongs to the store, and no temporary file is left.
std::string check_leftovers(CrashFileSystem& files, const DB& db) {
  std::uint64_t tables = 0;
  for (const Stats::Level& level : db.stats().levels) tables += level.tables;
  std::uint64_t found = 0;
  const Result<std::vector<DirectoryEntry>> entries = files.list(std::string(kStore));
  if (!entries.ok()) return entries.status().to_text();
  for (const DirectoryEntry& entry : *entries) {
    if (entry.name.ends_with(".tmp")) return entry.name + " was left behind";
    found += entry.name.ends_with(".tms") ? 1 : 0;
  }
  return found == tables ? "" : fmt::format("{} tables on disk, {} in the store", found, tables);
}

/// Writes a little, closes, opens: everything is present.
std::string go_on(CrashFileSystem& files, DB& db, const StoreLedger& ledger, const StoreScript& script,
                  Content content) {
  Batch batch;
  batch.put("key05", "after the crash");
  batch.remove("key06");
  std::map<std::uint32_t, std::string> names;
  for (const KeyspaceInfo& info : db.keyspaces()) {
    names[info.id] = info.name;
    if (info.id != 0) batch.put(*db.keyspace(info.name), "key05", "also after the crash");
  }
  if (const Status written = db.write(batch, {.sync = true}); !written.ok()) return "write: " + written.to_text();
  if (const Status written = db.put("key07", "unsynced"); !written.ok()) return "put: " + written.to_text();
  apply_to(batch, content, names, ledger.now());
  content["key07"] = "unsynced";
  if (const Status closed = db.close(); !closed.ok()) return "close: " + closed.to_text();
  Result<DB> again = open_again(files, script, ledger);
  if (!again.ok()) return "opening after a clean close: " + again.status().to_text();
  Content found;
  if (const std::string unread = read_all(*again, {}, found); !unread.empty()) return "after a clean close: " + unread;
  if (found != content) return "after a clean close: " + to_text(found) + "\ninstead of " + to_text(content);
  return {};
}

/// A copy is whole or not a store, even to an opening that may create one; an unfinished copy can be removed.
std::string check_copy(CrashFileSystem& files, const StoreLedger& ledger, const StoreScript& script) {
  if (!ledger.checkpoint()) return {};
  const std::string path(kCopy);
  const Result<std::vector<DirectoryEntry>> names = files.list(path);
  bool has_tables = false;
  for (const DirectoryEntry& entry : names.ok() ? *names : std::vector<DirectoryEntry>()) {
    has_tables |= entry.name.ends_with(".tms");
  }
  for (const bool is_read_only : {true, false}) {
    Options options = options_of(script);
    options.read_only = is_read_only;
    Result<DB> copy = DB::open(path, options, environment_on(files, 8, ledger));
    if (!copy.ok()) {
      if (ledger.is_checkpoint_made()) return "the checkpoint: " + copy.status().to_text();
      continue;
    }
    Content found;
    if (const std::string unread = read_all(*copy, {}, found); !unread.empty()) return "the checkpoint: " + unread;
    const bool is_made_anew = !is_read_only && !has_tables && !ledger.is_checkpoint_made() && found.empty();
    if (found != *ledger.checkpoint() && !is_made_anew) return "the checkpoint holds " + to_text(found);
    const Result<VerifyReport> verified = copy->verify();
    if (!verified.ok() || !verified->ok()) return "the checkpoint does not verify";
  }
  if (!names.ok()) return {};
  const Status gone = DB::destroy(path, environment_on(files, 9));
  return gone.ok() ? "" : "destroying the checkpoint: " + gone.to_text();
}

/// The landmarks of a workload; its events tell who made the tables.
class WorkloadLandmarks {
 public:
  explicit WorkloadLandmarks(const EventCounts& events) : events_(events) {}

  bool read(std::string_view call, bool is_due) {
    settle();
    return reader_.read(call, is_due);
  }
  const LandmarkReader& end() {
    settle();
    return reader_;
  }

 private:
  void settle() {
    if (std::exchange(flushes_, events_.flushes) != events_.flushes) reader_.flushed();
    if (std::exchange(compactions_, events_.compactions) != events_.compactions) reader_.compacted();
  }

  const EventCounts& events_;
  LandmarkReader reader_;
  int flushes_ = 0;
  int compactions_ = 0;
};

/// The copy that an earlier run made, or began to make, is durably gone.
MemoryDisk without_copy(MemoryDisk disk) {
  std::vector<std::string> names;
  for (const auto& [path, id] : disk.names()) {
    if (path.starts_with(kCopy)) names.push_back(path);
  }
  for (const std::string& name : names) disk.remove(name);
  disk.sync_directory(std::string(kCopy));
  disk.sync_directory("/");
  return disk;
}

}  // namespace

std::string check_store(const MemoryDisk& disk, const StoreLedger& ledger, const StoreScript& script, Crash crash,
                        Content& found) {
  CrashFileSystem files(disk);
  Result<DB> db = open_again(files, script, ledger);
  if (!db.ok()) return "does not open: " + db.status().to_text();
  if (std::string unread = read_all(*db, ledger.keys(), found); !unread.empty()) return unread;
  if (std::string wrong = ledger.check(found, crash); !wrong.empty()) return wrong;
  const Result<VerifyReport> verified = db->verify();
  if (!verified.ok()) return "verify: " + verified.status().to_text();
  if (!verified->ok()) return fmt::format("{}: {}", verified->problems[0].file, verified->problems[0].what);
  if (std::string left = check_leftovers(files, *db); !left.empty()) return left;
  if (std::string stuck = go_on(files, *db, ledger, script, found); !stuck.empty()) return stuck;
  return check_copy(files, ledger, script);
}

LandmarkCounts landmarks_of(const StoreScript& script, std::uint64_t seed) {
  CrashFileSystem memory;
  StoreLedger ledger;
  StoreWorkload workload(memory, ledger, script, seed);
  WorkloadLandmarks landmarks(workload.events());
  memory.after_each_call([&](const MemoryDisk&, std::string_view call) { (void)landmarks.read(call, false); });
  workload.run();
  memory.after_each_call(nullptr);
  return landmarks.end().met();
}

void StoreCrashes::enumerate(const StoreScript& script, std::uint64_t seed, bool again) {
  CrashFileSystem memory;
  StoreLedger ledger;
  if (!again) {
    run(memory, ledger, script, seed);
    return;
  }
  // The first run is not watched. It ends in a crash, and the second starts from what recovery finds.
  {
    StoreWorkload first(memory, ledger, script, seed);
    MemoryDisk crashed;
    memory.after_each_call([&, calls = 0, end = 60 + remix(seed) % 200](const MemoryDisk& disk, auto) mutable {
      if (disk.names().contains(std::string(kCopy))) return;  // The second run makes its own.
      if (++calls <= static_cast<int>(end)) crashed = disk;
    });
    first.run();
    memory.after_each_call(nullptr);
    const Loss loss = kAllLosses[seed % kAllLosses.size()];
    CrashFileSystem rebooted(crashed.after_crash(loss, seed));
    StoreLedger fresh;
    fresh.created();
    fresh.set_clock(ledger.now());
    Content found;
    {
      Result<DB> db = open_again(rebooted, script, fresh);
      if (!db.ok()) return;  // Not made yet, or check_store reports it elsewhere.
      if (!read_all(*db, {}, found).empty()) return;
    }
    CrashFileSystem second(without_copy(crashed.after_crash(loss, seed)));
    fresh.settle(found);
    run(second, fresh, script, seed + 1000);
  }
}

void StoreCrashes::run(CrashFileSystem& memory, StoreLedger& ledger, const StoreScript& script, std::uint64_t seed) {
  StoreWorkload workload(memory, ledger, script, seed);
  WorkloadLandmarks landmarks(workload.events());
  memory.after_each_call([&, count = std::uint64_t{0}](const MemoryDisk& disk, std::string_view call) mutable {
    if (!landmarks.read(call, ++count % ways_.every == 0)) return;
    crash_in_every_way(disk, {script, ledger, fmt::format("{}, seed {}: {}", script.name, seed, call)});
  });
  workload.run();
  const LandmarkCounts& crashed = landmarks.end().crashed();
  for (std::size_t i = 0; i < kLandmarks; ++i) landmarks_[i] += crashed[i];
  for (const Status& error : workload.errors()) {
    violations_.push_back(fmt::format("{}, seed {}: without a fault: {}", script.name, seed, error.to_text()));
  }
  for (const std::string& violation : workload.violations()) violations_.push_back(violation);
  if (workload.events().flushes == 0 || workload.events().compactions == 0) {
    violations_.push_back(fmt::format("{}: no flush or no compaction", script.name));
  }
  workload.db().reset();
  memory.after_each_call(nullptr);
}

void StoreCrashes::crash_in_every_way(const MemoryDisk& disk, const Moment& moment) {
  for (const Loss loss : kAllLosses) {
    const bool is_random = loss != Loss::kEverything && loss != Loss::kNothing;
    for (int i = 0; i < (is_random ? ways_.seeds : 1); ++i) crash(disk, loss, next_seed_++, moment);
  }
}

void StoreCrashes::crash(const MemoryDisk& disk, Loss loss, std::uint64_t seed, const Moment& moment) {
  const MemoryDisk image = disk.after_crash(loss, seed);
  const std::uint64_t hash = image.content_hash();
  images_by_loss_[static_cast<std::size_t>(loss)] += images_.insert(hash).second ? 1 : 0;
  const Crash crash = loss == Loss::kNothing ? Crash::kProcess : Crash::kMachine;
  const std::uint64_t promise = moment.ledger.state_hash() + static_cast<std::uint64_t>(crash);
  if (!checked_.insert(remix(hash) + promise).second) return;
  Content found;
  const std::string violation = check_store(image, moment.ledger, moment.script, crash, found);
  if (!violation.empty()) {
    violations_.push_back(
        fmt::format("after \"{}\", lost {} (seed {}): {}", moment.when, to_string(loss), seed, violation));
    return;
  }
  if (ways_.recovery_crashes > 0 && checked_.size() % static_cast<std::size_t>(ways_.recovery_crashes) == 0) {
    crash_recovery(image, crash, found, moment);
  }
}

/// Recovery starts from a fully durable disk, so wherever it is stopped, the next one finds the same.
void StoreCrashes::crash_recovery(const MemoryDisk& image, Crash crash, const Content& found, const Moment& moment) {
  CrashFileSystem files(image);
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    for (const Loss loss : kAllLosses) {
      const MemoryDisk nested = disk.after_crash(loss, next_seed_++);
      const std::uint64_t hash = nested.content_hash();
      images_.insert(hash);
      if (!checked_.insert(remix(hash) + moment.ledger.state_hash() + 99).second) continue;
      Content again;
      std::string violation = check_store(nested, moment.ledger, moment.script, crash, again);
      if (violation.empty() && again != found) {
        violation = fmt::format("{}\nbut the first recovery found {}", to_text(again), to_text(found));
      }
      if (violation.empty()) continue;
      violations_.push_back(fmt::format("after \"{}\" and, in recovery, \"{}\", lost {}: {}", moment.when, call,
                                        to_string(loss), violation));
    }
  });
  (void)open_again(files, moment.script, moment.ledger).ok();
}

}  // namespace tamis::test
