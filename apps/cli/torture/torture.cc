// tamis torture: does a store keep its guarantees on this disk and machine?
#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/torture/folder.h"
#include "cli/torture/run.h"
#include "cli/verbs.h"
#include "show/progress.h"

namespace tamis::cli {
namespace {

constexpr std::uint64_t kDefaultSeconds = 60;

std::uint64_t random_seed() {
  std::random_device device;
  return device();  // 32 bits are enough, and easy to type.
}

struct Outcome {
  std::uint64_t seed;
  double seconds;
  TortureCounts counts;
  std::optional<Violation> violation;
  std::string kept;  ///< The folder, if kept.
};

JsonObject violation_json(const Violation& found) {
  return JsonObject().add("round", found.round).add("what", found.what).add("options", found.options);
}

JsonObject as_json(const Outcome& result) {
  const TortureCounts& counts = result.counts;
  std::vector<Violation> violations;
  if (result.violation) violations.push_back(*result.violation);
  return JsonObject()
      .add("ok", !result.violation)
      .add("seed", result.seed)
      .add("seconds", result.seconds)
      .add("rounds", counts.rounds)
      .add("stores", counts.stores)
      .add("kills", counts.kills)
      .add("kills_opening", counts.kills_opening)
      .add("kills_flushing", counts.kills_flushing)
      .add("kills_compacting", counts.kills_compacting)
      .add("kills_in_tables", counts.kills_in_tables)
      .add("closes", counts.closes)
      .add("commits", counts.commits)
      .add("synced_commits", counts.synced)
      .add("reads", counts.reads)
      .add("checkpoints", counts.checkpoints)
      .add("second_openings", counts.second_openings)
      .add("followed", counts.followed)
      .add("flips", counts.flips)
      .add("flips_refused", counts.flips_refused)
      .add("flips_told", counts.flips_told)
      .add("repairs", counts.repairs)
      .add_list("violations", violations, violation_json);
}

void print_counts(const TortureCounts& counts) {
  Table table({{"", Table::Align::kRight}, {"", Table::Align::kWrap}});
  const auto add = [&](std::uint64_t count, std::string what) { table.add({with_thousands(count), std::move(what)}); };
  add(counts.rounds, fmt::format("rounds, on {} successive stores", counts.stores));
  add(counts.kills,
      fmt::format("kills: {} while opening, {} in a flush, {} in a compaction, the rest elsewhere; {} left tables "
                  "that were not yet part of the store",
                  counts.kills_opening, counts.kills_flushing, counts.kills_compacting, counts.kills_in_tables));
  add(counts.closes, "clean closes and reopens");
  add(counts.commits, fmt::format("commits acknowledged, {} of them synced", with_thousands(counts.synced)));
  add(counts.reads, "keys read and compared");
  add(counts.checkpoints, "checkpoints taken under load and read");
  add(counts.second_openings, "second opens refused");
  add(counts.followed, "reads of the whole store beside the writing process, as a follower");
  add(counts.flips,
      fmt::format("copies with a changed byte: {} did not open, {} refused some answers, {} harmless",
                  counts.flips_refused, counts.flips_told, counts.flips - counts.flips_refused - counts.flips_told));
  add(counts.repairs, "copies repaired");
  standard_output().write(table.text());
}

void print_text(const Outcome& result, const CommonOptions& options) {
  Output& out = standard_output();
  if (!options.quiet) print_counts(result.counts);
  if (const auto& found = result.violation) {
    out.print("{} in round {}, seed {}: {}\nOptions of the writing process: {}\nThe files are kept: {}\n",
              bold("VIOLATION"), found->round, result.seed, found->what, found->options, result.kept);
  } else if (!options.quiet) {
    out.print("no violation found in {:.0f} seconds; --seed {} repeats these rounds\n", result.seconds, result.seed);
  }
}

}  // namespace

int run_torture(Arguments arguments) {
  std::string directory;
  std::optional<std::uint64_t> seconds = kDefaultSeconds;
  std::optional<std::uint64_t> seed;
  bool keep = false;
  CommandLine line(
      {.summary = "Tries to break a store's guarantees on this disk. In each round, a process writes to a store under "
                  "load and is killed at a random moment. Then everything it acknowledged must be there, every answer "
                  "correct, every file intact; damaged copies must be detected. Ends with a summary; exits with status "
                  "1 and keeps the files if anything was wrong. A crash of the machine itself cannot be tested this "
                  "way.",
       .usage = "DIR [--seconds N] [--seed S] [--keep]",
       .example = "  tamis torture /mnt/disk/torture --seconds 600",
       .common = kJson | kQuiet | kNoProgress});
  line.operand("DIR", "a new folder, or one left behind by torture", directory);
  line.option("--seconds", "N", "how long to run; default: 60", seconds, parse_count);
  line.option("--seed", "S", "repeat the rounds of an earlier run; thread timing still varies", seed, parse_count);
  line.flag("--keep", "keep the files even if nothing was wrong", keep);
  if (!line.read(arguments)) return kExitOk;

  Outcome result = {
      .seed = seed ? *seed : random_seed(), .seconds = 0, .counts = {}, .violation = {}, .kept = directory};
  TortureFolder folder(directory);
  const DelayInterrupt until_removed;
  const auto begun = std::chrono::steady_clock::now();
  {
    show::Progress progress(fmt::format("torture, seed {}", result.seed), *seconds * 1000,
                            line.common().wants_progress());
    TortureRun run(folder, result.seed, std::chrono::seconds(*seconds),
                   [&, shown = std::uint64_t{0}](std::uint64_t milliseconds, const TortureCounts& counts) mutable {
                     progress.count(counts.kills - std::exchange(shown, counts.kills), "kills");
                     progress.advance(milliseconds);
                   });
    result.violation = run.run();
    result.counts = run.counts();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!result.violation && !keep) folder.remove();
  if (line.common().json) {
    standard_output().write(as_json(result).line());
  } else {
    print_text(result, line.common());
  }
  standard_output().flush();  // After Ctrl-C, nothing runs once the folder is removed.
  return result.violation ? kExitNo : kExitOk;
}

}  // namespace tamis::cli
