// tamis torture-writer: the process that tamis torture kills. Internal; not in the overview.
#include <unistd.h>

#include <string>

#include "cli/numbers.h"
#include "cli/torture/channel.h"
#include "cli/torture/draw.h"
#include "cli/torture/folder.h"
#include "cli/torture/load.h"
#include "cli/torture/plan.h"
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
  Moment moment;
  if (const Finding finding = TortureReader(*db, script).scan(nullptr, moment); !finding.is_right()) {
    tell_watcher({.kind = Message::Kind::kWrong, .text = "after opening: " + finding.what});
    return kExitNo;
  }
  TortureLoad(*db, plan, script, moment, checkpoint_path(folder), tell_watcher).run(mixed({seed, round, 3}));
  if (const Status closed = db->close(); !closed.ok()) return give_up("close", closed);
  tell_watcher({.kind = Message::Kind::kClosed});
  return kExitOk;
}

}  // namespace tamis::cli
