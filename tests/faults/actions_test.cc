// P5 and P6 beyond writing: whichever call of a longer task fails, the task reports it, does no harm, and can be
// repeated after the fault.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "crash/store_workload.h"
#include "faults/store_damage.h"
#include "faults/store_faults.h"
#include "support/figures.h"

namespace tamis::test {
namespace {

const std::string kFolder(kStore);
const std::string kCopyFolder(kCopy);

/// One run over a store whose calls may fail.
struct Attempt {
  const ClosedStore& store;
  CrashFileSystem& memory;
  FaultyFileSystem& faulty;
};

/// The task and, after the fault, a check of what is left. Empty, or the error.
struct Action {
  std::string_view name;
  std::function<Status(const Attempt& attempt)> run;
  std::function<std::string(const Attempt& attempt, const Status& done)> look;
};

Result<DB> open_on(FileSystem& files, const std::string& path, bool read_only = false) {
  Options options;
  options.read_only = read_only;
  options.create_if_missing = false;
  return DB::open(path, options, environment_on(files, 3));
}

std::string holds(FileSystem& files, const std::string& path, const Content& expected,
                  const std::vector<std::string>& probed = {}) {
  Result<DB> db = open_on(files, path);
  if (!db.ok()) return path + " does not open: " + db.status().to_text();
  Content found;
  if (std::string unread = read_all(*db, probed, found); !unread.empty()) return path + ": " + unread;
  if (found != expected) return path + " holds " + to_text(found);
  const Result<VerifyReport> verified = db->verify();
  return verified.ok() && verified->ok() ? "" : path + " does not verify";
}

std::string is_unchanged(const Attempt& attempt) {
  return attempt.memory.disk().content_hash() == attempt.store.disk.content_hash() ? "" : "something was written";
}

/// Every answer is right or an error.
Status read_only(const Attempt& attempt) {
  Result<DB> db = open_on(attempt.faulty, kFolder, true);
  if (!db.ok()) return db.status();
  for (const std::string& key : attempt.store.probed) {
    const Result<std::optional<std::string>> value = db->get(key);
    if (!value.ok()) return value.status();
    const auto at = attempt.store.content.find(key);
    const bool is_right = at == attempt.store.content.end() ? !value->has_value() : *value == at->second;
    if (!is_right) return Status::corruption(key + " has a wrong answer");
  }
  Content found;
  Iterator walk = db->scan();
  for (; walk.valid(); walk.next()) found.emplace(walk.key(), walk.value());
  if (!walk.status().ok()) return walk.status();
  return found == attempt.store.content ? Status() : Status::corruption("a wrong scan");
}

/// A table that cannot be read is a problem in the report.
Status verify(const Attempt& attempt) {
  Result<DB> db = open_on(attempt.faulty, kFolder, true);
  if (!db.ok()) return db.status();
  const Result<VerifyReport> report = db->verify();
  if (!report.ok()) return report.status();
  return report->ok() ? Status() : Status::io_error(report->problems.front().what);
}

Status checkpoint(const Attempt& attempt) {
  Result<DB> db = open_on(attempt.faulty, kFolder);
  if (!db.ok()) return db.status();
  Status copied = db->checkpoint(kCopyFolder);
  Content found;
  const std::uint64_t fired = attempt.faulty.fired();
  const std::string unread = read_all(*db, {}, found);
  if (!unread.empty() && attempt.faulty.fired() == fired) return Status::corruption(unread);
  if (unread.empty() && found != attempt.store.content) return Status::corruption("the running store answers wrongly");
  return copied;
}

std::string look_at_checkpoint(const Attempt& attempt, const Status& done) {
  if (done.ok()) {
    if (std::string wrong = holds(attempt.memory, kCopyFolder, attempt.store.content); !wrong.empty()) return wrong;
  }
  // If it opens, it is the whole copy.
  if (open_on(attempt.memory, kCopyFolder, true).ok()) {
    if (std::string wrong = holds(attempt.memory, kCopyFolder, attempt.store.content); !wrong.empty()) return wrong;
  }
  if (attempt.memory.list(kCopyFolder).ok()) {
    const Status gone = DB::destroy(kCopyFolder, environment_on(attempt.memory, 4));
    if (!gone.ok()) return "the copy cannot be destroyed: " + gone.to_text();
  }
  {
    Result<DB> db = open_on(attempt.memory, kFolder);
    if (!db.ok()) return "does not open: " + db.status().to_text();
    if (const Status again = db->checkpoint("/again"); !again.ok()) return "again: " + again.to_text();
  }
  if (std::string wrong = holds(attempt.memory, "/again", attempt.store.content); !wrong.empty()) return wrong;
  return holds(attempt.memory, kFolder, attempt.store.content, attempt.store.probed);
}

Status repair(const Attempt& attempt) { return DB::repair(kFolder, false, environment_on(attempt.faulty, 5)).status(); }
Status repair_dry(const Attempt& attempt) {
  return DB::repair(kFolder, true, environment_on(attempt.faulty, 5)).status();
}

/// The result of a repair without faults.
Content repaired(const ClosedStore& store) {
  CrashFileSystem files(store.disk);
  EXPECT_TRUE(DB::repair(kFolder, false, environment_on(files, 5)).ok());
  Result<DB> db = open_on(files, kFolder);
  Content found;
  EXPECT_TRUE(db.ok() && read_all(*db, {}, found).empty());
  return found;
}

std::string look_at_repair(const Attempt& attempt, const Status& done) {
  if (done.ok()) {
    if (std::string wrong = holds(attempt.memory, kFolder, attempt.store.content); !wrong.empty()) return wrong;
  }
  const Result<RepairReport> again = DB::repair(kFolder, false, environment_on(attempt.memory, 6));
  if (!again.ok()) return "again: " + again.status().to_text();
  return holds(attempt.memory, kFolder, attempt.store.content);
}

Status destroy(const Attempt& attempt) { return DB::destroy(kFolder, environment_on(attempt.faulty, 7)); }

std::string look_at_destroyed(const Attempt& attempt, const Status& done) {
  if (!done.ok() && attempt.memory.file_size(kFolder + "/CURRENT")->has_value()) {
    if (std::string wrong = holds(attempt.memory, kFolder, attempt.store.content); !wrong.empty()) return wrong;
  }
  if (const Status again = DB::destroy(kFolder, environment_on(attempt.memory, 8)); !again.ok()) {
    return "again: " + again.to_text();
  }
  const std::vector<DirectoryEntry> left = *attempt.memory.list(kFolder);
  return left.size() == 1 && left.front().name == "LOCK" ? "" : "files were left";
}

/// Without CURRENT and manifest, and with a damaged table; the content is what can be recovered.
ClosedStore damaged_store() {
  ClosedStore store = make_closed_store({}, 9);
  bool is_flipped = false;
  for (const std::string& path : store.files()) {
    if (path.find("CURRENT") != std::string::npos || path.find("MANIFEST") != std::string::npos) {
      store.disk.remove(path);
    } else if (path.ends_with(".tms") && !std::exchange(is_flipped, true)) {
      CachedFile& file = store.disk.file(store.disk.names().at(path));
      std::string bytes = file.bytes();
      bytes[100] = static_cast<char>(bytes[100] ^ 0x41);
      file = CachedFile(bytes);
    }
  }
  store.disk.sync_directory(kFolder);
  store.content = repaired(store);
  return store;
}

struct Figures {
  int fired = 0;
  int told = 0;
};

/// Fails call N, for every N, in every way; from N on, for every fourth.
void fail_every_call(const Action& action, const ClosedStore& store, Figures& figures) {
  for (const FaultKind kind : honest_faults()) {
    for (const bool sticky : {false, true}) {
      for (std::uint64_t call = 1;; call += sticky ? 4 : 1) {
        CrashFileSystem memory(store.disk);
        FaultyFileSystem faulty(memory, {kind, call, sticky});
        const Attempt attempt{store, memory, faulty};
        const Status done = action.run(attempt);
        const bool was_reached = faulty.calls() >= call;
        faulty.heal();
        SCOPED_TRACE(fmt::format("{}, {}: {}", action.name, to_text(Fault{kind, call, sticky}), done.to_text()));
        ASSERT_TRUE(done.ok() || done.code() == StatusCode::kIoError || done.code() == StatusCode::kOutOfSpace ||
                    done.code() == StatusCode::kBusy);
        ASSERT_TRUE(done.ok() || faulty.fired() > 0);
        ASSERT_EQ(action.look(attempt, done), "");
        ASSERT_EQ(synced_again(memory.call_log()), "");
        figures.fired += faulty.fired() > 0 ? 1 : 0;
        figures.told += done.ok() ? 0 : 1;
        if (!was_reached) break;
      }
    }
  }
}

TEST(NthCall, P5_P6_TasksSayWhatFailedHarmNothingAndCanBeDoneAgain) {
  const auto unchanged = [](const Attempt& attempt, const Status&) { return is_unchanged(attempt); };
  const ClosedStore store = make_closed_store({}, 8);
  Figures figures;
  for (const Action& action :
       {Action{"open read-only and read", read_only, unchanged}, Action{"verify", verify, unchanged},
        Action{"checkpoint", checkpoint, look_at_checkpoint}, Action{"destroy", destroy, look_at_destroyed}}) {
    fail_every_call(action, store, figures);
  }
  const ClosedStore damaged = damaged_store();
  ASSERT_GT(damaged.content.size(), 10U);
  fail_every_call({"repair", repair, look_at_repair}, damaged, figures);
  fail_every_call({"repair, dry", repair_dry, unchanged}, damaged, figures);
  fmt::print("{} runs with a failed call, {} of them failed\n", figures.fired, figures.told);
  record_figure("call_failures", static_cast<std::uint64_t>(figures.fired));
  EXPECT_GT(figures.told, figures.fired / 2);
}

/// CURRENT goes first and durably: a crash leaves a store that is being destroyed whole or gone.
TEST(StoreCrash, ADestroyedStoreIsWholeOrNoneAndCanBeDestroyedAgain) {
  const ClosedStore store = make_closed_store({}, 8);
  CrashFileSystem memory(store.disk.after_crash(Loss::kNothing, 1));
  std::vector<MemoryDisk> crashes;
  memory.after_each_call([&](const MemoryDisk& disk, std::string_view) { crashes.push_back(disk); });
  ASSERT_TRUE(DB::destroy(kFolder, environment_on(memory, 1)).ok());
  memory.after_each_call({});
  std::set<std::uint64_t> images;
  std::size_t whole = 0;
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    for (const Loss loss : kAllLosses) {
      const MemoryDisk image = crashes[i].after_crash(loss, i);
      if (!images.insert(image.content_hash()).second) continue;
      SCOPED_TRACE(fmt::format("crash {}, {}", i, to_string(loss)));
      CrashFileSystem after(image);
      FaultyFileSystem faulty(after);
      whole += open_on(after, kFolder, true).ok() ? 1 : 0;
      EXPECT_EQ(look_at_destroyed({store, after, faulty}, Status::io_error("crashed")), "");
    }
  }
  record_figure("crash_images", images.size());
  EXPECT_GT(whole, 0U);
  EXPECT_GT(images.size(), 5U);
}

}  // namespace
}  // namespace tamis::test
