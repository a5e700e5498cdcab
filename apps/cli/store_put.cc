// tamis put, tamis delete: one change.
#include <string>

#include "command_line.h"
#include "error.h"
#include "json.h"
#include "output.h"
#include "store_common.h"
#include "tamis/db.h"
#include "verbs.h"

namespace tamis::cli {
namespace {

/// Both say nothing when all went well, except to programs.
int done(DB& db, const Status& written, const CommonOptions& options) {
  need(written);
  need(db.close());
  if (options.json) standard_output().print("{}\n", JsonObject().add("ok", true).text());
  return kExitOk;
}

constexpr std::string_view kSyncHelp = "return only when the change would survive a crash of the machine";

}  // namespace

int run_put(Arguments arguments) {
  StoreArguments store;
  std::string key;
  std::string value;
  bool sync = false;
  CommandLine line({.name = "put",
                    .summary = "Stores a value under a key. Makes the store if there is none.",
                    .usage = "DIR KEY VALUE [--sync]",
                    .example = "  tamis put cities paris 2102650\n"
                               "  tamis put cities low -- -5"});
  store.declare(line);
  line.operand("KEY", "the key", key);
  line.operand("VALUE", "what get will return; may be empty", value);
  line.flag("--sync", kSyncHelp, sync);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  value = bytes_of_word(value, "the value", line.common());
  DB db = store.open(StoreUse::kCreate);
  return done(db, db.put(key, value, {.sync = sync}), line.common());
}

int run_delete(Arguments arguments) {
  StoreArguments store;
  std::string key;
  bool sync = false;
  CommandLine line({.name = "delete",
                    .summary = "Removes a key. Removing one that is not there is no error.",
                    .usage = "DIR KEY [--sync]",
                    .example = "  tamis delete cities paris"});
  store.declare(line);
  line.operand("KEY", "the key", key);
  line.flag("--sync", kSyncHelp, sync);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  DB db = store.open(StoreUse::kWrite);
  return done(db, db.remove(key, {.sync = sync}), line.common());
}

}  // namespace tamis::cli
