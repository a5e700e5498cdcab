// tamis torture-writer: the process that tamis torture kills. Internal; not in the overview. It puts a load on the
// store: threads that write, read, flush, compact and take checkpoints, all at once.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/draw.h"
#include "cli/numbers.h"
#include "cli/torture/check.h"
#include "cli/torture/folder.h"
#include "cli/torture/plan.h"
#include "cli/torture/process.h"
#include "cli/verbs.h"
#include "tamis/db.h"

namespace tamis::cli {
namespace {

void tell_watcher(const Message& message) { tell(STDOUT_FILENO, message); }

int give_up(std::string_view doing, const Status& status) {
  tell_watcher({.kind = Message::Kind::kFailed,
                .number = static_cast<std::uint64_t>(status.code()),
                .text = Finding::told(doing, status).what});
  return kExitNo;
}

std::vector<std::uint32_t> some_indexes(Draw& draw, std::uint32_t keys) {
  std::vector<std::uint32_t> indexes(1 + draw.below(12));
  for (std::uint32_t& index : indexes) index = static_cast<std::uint32_t>(draw.below(keys));
  return indexes;
}

/// Transactions refuse these.
bool is_range(const Batch::Operation& change) { return change.kind == Batch::Operation::Kind::kRemoveRange; }

/// Runs the threads of a round. Most rounds never end by themselves: the process is killed. Anything wrong is reported
/// and ends the process.
///
/// Invariants: for each writer acknowledged ≤ what any reader finds ≤ begun, if the reader takes the first before it
/// reads and the second after.
class TortureLoad {
 public:
  /// `moment` is what the store holds. Checkpoints go to `checkpoint_path`.
  TortureLoad(DB& db, Keyspace second, const RoundPlan& plan, const TortureScript& script, const Moment& moment,
              std::string checkpoint_path);

  /// Returns once every writer has made its commits, in a round that ends by itself.
  void run(std::uint64_t seed);

 private:
  void write(std::uint32_t writer, std::uint64_t seed);
  void read(std::uint64_t seed);
  void maintain(std::uint64_t seed);
  void make_checkpoint();
  Status write_once(Draw& draw, std::uint32_t writer, const Batch& batch, bool& is_synced);
  Status write_in_transaction(std::uint32_t writer, const Batch& batch, bool is_synced);
  Finding read_once(TortureReader& reader, Draw& draw);
  Finding read_snapshot(TortureReader& reader, Draw& draw);

  void need(const Status& status, std::string_view doing) {
    need(status.ok() ? Finding() : Finding::told(doing, status));
  }
  void need(const Finding& finding);
  [[nodiscard]] Moment acknowledged() const;
  [[nodiscard]] Moment begun() const;

  DB& db_;
  Keyspace second_;
  const RoundPlan& plan_;
  const TortureScript& script_;
  const std::string checkpoint_path_;
  // Each is written by its writer and read by all.
  std::array<std::atomic<std::uint64_t>, TortureScript::kMaxWriters> begun_ = {};
  std::array<std::atomic<std::uint64_t>, TortureScript::kMaxWriters> acknowledged_ = {};
  std::atomic<bool> is_over_ = false;
};

TortureLoad::TortureLoad(DB& db, Keyspace second, const RoundPlan& plan, const TortureScript& script,
                         const Moment& moment, std::string checkpoint_path)
    : db_(db), second_(std::move(second)), plan_(plan), script_(script), checkpoint_path_(std::move(checkpoint_path)) {
  for (std::uint32_t writer = 0; writer < script.writers(); ++writer) {
    begun_[writer] = moment[writer];
    acknowledged_[writer] = moment[writer];
  }
}

void TortureLoad::run(std::uint64_t seed) {
  std::vector<std::jthread> others;
  for (std::uint32_t reader = 0; reader < plan_.readers; ++reader) {
    others.emplace_back([this, seed, reader] { read(mixed({seed, 1, reader})); });
  }
  others.emplace_back([this, seed] { maintain(mixed({seed, 2})); });
  {
    std::vector<std::jthread> writers;
    for (std::uint32_t writer = 0; writer < script_.writers(); ++writer) {
      writers.emplace_back([this, seed, writer] { write(writer, mixed({seed, 3, writer})); });
    }
  }
  is_over_ = true;
}

void TortureLoad::need(const Finding& finding) {
  if (finding.is_right()) return;
  const bool is_told = finding.kind == Finding::Kind::kTold;
  tell_watcher({.kind = is_told ? Message::Kind::kFailed : Message::Kind::kWrong,
                .number = static_cast<std::uint64_t>(finding.code),
                .text = finding.what});
  ::_exit(kExitNo);
}

Moment TortureLoad::acknowledged() const { return {acknowledged_.begin(), acknowledged_.begin() + script_.writers()}; }

Moment TortureLoad::begun() const { return {begun_.begin(), begun_.begin() + script_.writers()}; }

/// The transaction reads what the writer noted last: nobody else writes it.
Status TortureLoad::write_in_transaction(std::uint32_t writer, const Batch& batch, bool is_synced) {
  const auto work = [&](Transaction& tx) -> Status {
    const auto text = tx.get(script_.note_key(writer));
    if (!text.ok()) return text.status();
    const auto note = script_.parse_note(text->value_or(""));
    const std::uint64_t noted = note ? note->commit : 0;
    if (noted != acknowledged_[writer]) {
      need(Finding::wrong(fmt::format("a transaction of writer {} finds commit {} after {} were acknowledged", writer,
                                      noted, acknowledged_[writer].load())));
    }
    return tx.write(batch);
  };
  return db_.transact(work, {.commit = {.sync = is_synced}});
}

Status TortureLoad::write_once(Draw& draw, std::uint32_t writer, const Batch& batch, bool& is_synced) {
  is_synced = draw.once_in(plan_.sync_one_in);
  if (draw.once_in(8) && std::ranges::none_of(batch, is_range)) return write_in_transaction(writer, batch, is_synced);
  if (draw.once_in(16)) {
    Status tried = db_.try_write(batch, {.sync = is_synced});
    if (tried.code() != StatusCode::kBusy) return tried;
  }
  return db_.write(batch, {.sync = is_synced});
}

void TortureLoad::write(std::uint32_t writer, std::uint64_t seed) {
  Draw draw(seed);
  const bool ends = plan_.end == RoundPlan::End::kCloses;
  const std::uint64_t last = acknowledged_[writer] + plan_.commits / script_.writers();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(plan_.milliseconds);
  for (std::uint64_t commit = acknowledged_[writer] + 1;; ++commit) {
    if (ends && (commit > last || std::chrono::steady_clock::now() > end)) return;
    const Batch batch = script_.batch(writer, {.commit = commit, .after = acknowledged()}, second_);
    begun_[writer] = commit;
    bool is_synced = false;
    need(write_once(draw, writer, batch, is_synced), "write");
    acknowledged_[writer] = commit;
    tell_watcher({.kind = is_synced ? Message::Kind::kSynced : Message::Kind::kAcknowledged,
                  .writer = static_cast<std::uint8_t>(writer),
                  .number = commit});
    if (draw.once_in(1000)) need(db_.sync(), "sync");
  }
}

void TortureLoad::read(std::uint64_t seed) {
  Draw draw(seed);
  TortureReader reader(db_, script_);
  std::uint64_t told = 0;
  while (!is_over_) {
    need(read_once(reader, draw));
    if (reader.reads() - told < 1000) continue;
    tell_watcher({.kind = Message::Kind::kRead, .number = reader.reads() - told});
    told = reader.reads();
  }
}

Finding TortureLoad::read_once(TortureReader& reader, Draw& draw) {
  const auto writer = static_cast<std::uint32_t>(draw.below(script_.writers()));
  const auto index = static_cast<std::uint32_t>(draw.below(script_.keys()));
  const Moment before = acknowledged();
  if (!draw.once_in(8)) {
    return reader.get(writer, index, before[writer], [&] { return begun_[writer].load(); });
  }
  if (draw.once_in(8)) return read_snapshot(reader, draw);
  Moment found;
  Finding finding = draw.once_in(8) ? reader.scan(nullptr, found)
                                    : reader.multi_get(some_indexes(draw, script_.keys()), nullptr, found);
  return finding.is_right() ? check_between(before, found, begun()) : finding;
}

/// Reads one snapshot in several ways while others write.
Finding TortureLoad::read_snapshot(TortureReader& reader, Draw& draw) {
  const Moment before = acknowledged();
  const Snapshot snapshot = db_.snapshot();
  const Moment after = begun();
  Moment moment;
  if (Finding finding = reader.multi_get(some_indexes(draw, script_.keys()), &snapshot, moment); !finding.is_right()) {
    return finding;
  }
  if (Finding finding = check_between(before, moment, after); !finding.is_right()) return finding;
  if (draw.once_in(2)) std::this_thread::sleep_for(std::chrono::microseconds(draw.below(20'000)));
  switch (draw.below(4)) {
    case 0: return reader.scan_backwards(&snapshot, moment);
    case 1: return reader.get_all(&snapshot, moment);
    case 2: return reader.scan_prefix(static_cast<std::uint32_t>(draw.below(script_.writers())), &snapshot, moment);
    default: break;
  }
  Moment again;
  if (Finding finding = reader.scan(&snapshot, again); !finding.is_right()) return finding;
  return check_between(moment, again, moment);
}

void TortureLoad::maintain(std::uint64_t seed) {
  Draw draw(seed);
  while (!is_over_) {
    std::this_thread::sleep_for(std::chrono::microseconds(draw.below(15'000)));
    switch (draw.below(8)) {
      case 0:
      case 1:
      case 2:
        tell_watcher({.kind = Message::Kind::kFlushes});
        need(db_.flush(), "flush");
        tell_watcher({.kind = Message::Kind::kFlushed});
        break;
      case 3:
      case 4: {
        const std::string from = script_.key(0, static_cast<std::uint32_t>(draw.below(script_.keys())));
        const std::string to = script_.prefix(static_cast<std::uint32_t>(draw.below(script_.writers()))) + "9";
        tell_watcher({.kind = Message::Kind::kCompacts});
        const Range range = draw.once_in(2) || to <= from ? Range() : Range{.from = from, .to = to};
        need(draw.once_in(2) ? db_.compact(range) : second_.compact(range), "compact");
        tell_watcher({.kind = Message::Kind::kCompacted});
        break;
      }
      case 5: need(verify(db_)); break;
      case 6:
        if (plan_.makes_checkpoints) make_checkpoint();
        break;
      default: need(db_.wait_idle(), "wait_idle"); break;
    }
  }
}

/// It holds one moment between the start and the end of the call.
void TortureLoad::make_checkpoint() {
  const Moment before = acknowledged();
  need(db_.checkpoint(checkpoint_path_), "checkpoint");
  const Moment after = begun();
  tell_watcher({.kind = Message::Kind::kCheckpointed});
  {
    Options options = plan_.looking_options;
    options.read_only = true;
    Result<DB> copy = DB::open(checkpoint_path_, options);
    need(copy.status(), "open of a checkpoint");
    Moment found;
    need(TortureReader(*copy, script_).scan(nullptr, found));
    need(check_between(before, found, after));
  }
  need(DB::destroy(checkpoint_path_), "destroy of a checkpoint");  // CURRENT first: half of it is no store.
  std::filesystem::remove_all(checkpoint_path_);
}

}  // namespace

int run_torture_writer(Arguments arguments) {
  CommandLine line({.summary = "The process that 'tamis torture' starts and kills.",
                    .usage = "DIR SEED ROUND",
                    .example = "  tamis torture DIR"});
  std::string folder;
  std::string seed_text;
  std::string round_text;
  line.operand("DIR", "torture's folder", folder);
  line.operand("SEED", "of the run", seed_text);
  line.operand("ROUND", "its number", round_text);
  if (!line.read(arguments)) return kExitOk;
  need_torture_folder(folder);
  const std::uint64_t seed = parse_count("SEED", seed_text);
  const std::uint64_t round = parse_count("ROUND", round_text);
  const RoundPlan plan = plan_round(seed, round);
  const TortureScript script(plan.shape);

  Result<DB> db = DB::open(store_path(folder), plan.options);
  if (!db.ok()) return give_up("open", db.status());
  tell_watcher({.kind = Message::Kind::kOpened});
  const Result<Keyspace> second = db->keyspace(TortureScript::kSecondKeyspace);
  if (!second.ok()) return give_up("open of a keyspace", second.status());
  Moment moment;
  if (const Finding finding = TortureReader(*db, script).scan(nullptr, moment); !finding.is_right()) {
    tell_watcher({.kind = Message::Kind::kWrong, .text = "after opening: " + finding.what});
    return kExitNo;
  }
  TortureLoad(*db, *second, plan, script, moment, checkpoint_path(folder)).run(mixed({seed, round, 3}));
  if (const Status closed = db->close(); !closed.ok()) return give_up("close", closed);
  tell_watcher({.kind = Message::Kind::kClosed});
  return kExitOk;
}

}  // namespace tamis::cli
