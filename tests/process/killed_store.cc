#include "process/killed_store.h"

#include <fmt/core.h>

#include <charconv>
#include <csignal>
#include <optional>

#include "base/random.h"
#include "process/child_process.h"
#include "process/killing_file_system.h"
#include "support/figures.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 500;
constexpr int kCouldNotOpen = 3;
constexpr int kCouldNotWrite = 4;
constexpr int kWasNotKilled = 5;

Options small_options() {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = 200 << 10;
  options.table_bytes = 64 << 10;
  options.fanout = 4;
  return options;
}

/// Commit n sets its key to n and the counter to n, in one batch.
std::string key_of(std::uint64_t commit) { return fmt::format("key{:04}", remix(commit) % kKeys); }
std::string value_of(std::uint64_t commit) {
  return fmt::format("{:08}", commit) + std::string(remix(commit) % 300, 'v');
}

Result<std::uint64_t> last_commit(const DB& db) {
  TAMIS_TRY(const std::optional<std::string> counter, db.get("counter"));
  std::uint64_t last = 0;
  if (counter) (void)std::from_chars(counter->data(), counter->data() + counter->size(), last);
  return last;
}

/// The child: commits until it is killed.
int write_until_killed(const std::string& path, KilledIn where, std::uint64_t seed,
                       const ChildProcess::Teller& teller) {
  KillingFileSystem files;
  SplitMix64 random(seed);
  Environment environment{.files = &files};
  environment.runs_in_background = where == KilledIn::kAnywhere;
  Result<DB> db = DB::open(path, small_options(), environment);
  if (!db.ok()) return kCouldNotOpen;
  Result<std::uint64_t> last = last_commit(*db);
  if (!last.ok()) return kCouldNotOpen;
  const std::uint64_t quiet_until = *last + 20 + random.below(300);
  for (std::uint64_t commit = *last + 1;; ++commit) {
    Batch batch;
    batch.put(key_of(commit), value_of(commit));
    batch.put("counter", fmt::format("{}", commit));
    if (commit == quiet_until && where == KilledIn::kLoad) {
      files.arm(".journal", static_cast<std::int64_t>(1 + random.below(40)));
    }
    if (!db->write(batch, {.sync = random.below(16) == 0}).ok()) return kCouldNotWrite;
    teller.tell(commit);
    if (commit != quiet_until || where == KilledIn::kLoad || where == KilledIn::kAnywhere) continue;
    // Making a table takes at least three calls: create, write and sync. Runs that hold the counter are merged, not
    // moved; but the flush before may have caused that already.
    for (int attempt = 0; attempt < 4; ++attempt) {
      if (where == KilledIn::kCompaction && !db->flush().ok()) return kCouldNotWrite;
      files.arm(".tms", static_cast<std::int64_t>(1 + random.below(3)));
      if (!(where == KilledIn::kFlush ? db->flush() : db->compact()).ok()) return kCouldNotWrite;
      files.disarm();
      if (!db->put("counter", fmt::format("{}", commit)).ok()) return kCouldNotWrite;
    }
    return kWasNotKilled;
  }
}

std::string look(const std::string& path, std::uint64_t acknowledged) {
  const Result<DB> db = DB::open(path, small_options());
  if (!db.ok()) return "does not open: " + db.status().to_text();
  const Result<std::uint64_t> last = last_commit(*db);
  if (!last.ok()) return last.status().to_text();
  // One commit may have been in flight.
  if (*last < acknowledged || *last > acknowledged + 1) {
    return fmt::format("holds {} commits, {} were acknowledged", *last, acknowledged);
  }
  std::vector<std::uint64_t> newest(kKeys);
  for (std::uint64_t commit = 1; commit <= *last; ++commit) newest[remix(commit) % kKeys] = commit;
  std::uint64_t expected = 0;
  for (const std::uint64_t commit : newest) {
    if (commit == 0) continue;
    ++expected;
    const Result<std::optional<std::string>> value = db->get(key_of(commit));
    if (!value.ok()) return value.status().to_text();
    if (*value != value_of(commit)) return fmt::format("commit {} of {} is missing", commit, *last);
  }
  std::uint64_t found = 0;
  Iterator walk = db->scan({.prefix = "key"});
  for (; walk.valid(); walk.next()) ++found;
  if (!walk.status().ok()) return walk.status().to_text();
  if (found != expected) return fmt::format("a scan gives {} keys instead of {}", found, expected);
  const Result<VerifyReport> verified = db->verify();
  if (!verified.ok()) return verified.status().to_text();
  return verified->ok() ? "" : verified->problems.front().what;
}

}  // namespace

void kill_and_look(const std::string& path, KilledIn where, std::uint64_t seed, KillCounts& counts) {
  SplitMix64 random(seed);
  std::uint64_t before = 0;
  if (Options options = small_options(); true) {
    options.create_if_missing = false;
    if (const Result<DB> db = DB::open(path, options); db.ok()) before = last_commit(*db).value();
  }
  ChildProcess child([&](const ChildProcess::Teller& teller) { return write_until_killed(path, where, seed, teller); });
  std::uint64_t acknowledged = before;
  const std::uint64_t until = before + 1 + random.below(1500);
  bool was_killed_here = false;
  while (const std::optional<std::uint64_t> number = child.next()) {
    acknowledged = *number;
    if (where == KilledIn::kAnywhere && acknowledged >= until && !was_killed_here) {
      child.kill();
      was_killed_here = true;
    }
  }
  const int ended = child.wait();
  const auto violation = [&](const std::string& what) {
    counts.violations.push_back(fmt::format("kill {} with seed {}: {}", static_cast<int>(where), seed, what));
  };
  if (ended != -SIGKILL) return violation(fmt::format("the child ended by itself: {}", ended));
  ++counts.kills;
  counts.in_load += where == KilledIn::kLoad ? 1 : 0;
  counts.in_flush += where == KilledIn::kFlush ? 1 : 0;
  counts.in_compaction += where == KilledIn::kCompaction ? 1 : 0;
  counts.acknowledged += acknowledged - before;
  if (const std::string wrong = look(path, acknowledged); !wrong.empty()) violation(wrong);
}

void record_kills(const KillCounts& counts) {
  record_figure("kills", static_cast<std::uint64_t>(counts.kills));
  record_figure("kills_in_load", static_cast<std::uint64_t>(counts.in_load));
  record_figure("kills_in_flush", static_cast<std::uint64_t>(counts.in_flush));
  record_figure("kills_in_compaction", static_cast<std::uint64_t>(counts.in_compaction));
}

}  // namespace tamis::test
