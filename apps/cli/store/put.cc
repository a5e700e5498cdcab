// tamis put, tamis delete: one write.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/bytes_text.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

using namespace std::chrono_literals;

/// Both print nothing on success, except with --json.
int done(DB& db, const Status& written, const CommonOptions& options) {
  need(written);
  need(db.close());
  if (options.json) standard_output().write(JsonObject().add("ok", true).line());
  return kExitOk;
}

/// The same for a write that depends on the present value. Exit status 1 if nothing was changed.
int done_if(DB& db, const Result<bool>& changed, const CommonOptions& options) {
  need(changed.status());
  need(db.close());
  if (options.json) standard_output().write(JsonObject().add("ok", true).add("changed", *changed).line());
  return *changed ? kExitOk : kExitNo;
}

constexpr std::string_view kSyncHelp = "return once the change is durable (survives a machine crash)";

/// As the option default_expiry is read.
std::chrono::milliseconds time_of(const std::string& text) {
  Options options;
  if (set_option(options, "default_expiry", text).ok()) {
    return text == "never" ? kNeverExpires : options.default_expiry;
  }
  usage_error(fmt::format("--expires-in {}: expected never, or a number of ms, s, min, h or d", quoted(text)));
}

/// The whole file. A file that is larger than a value may be is not read to its end.
std::string value_in_file(const std::string& path) {
  InputFile file(path);
  std::string bytes;
  if (file.size() <= Batch::kMaxValueBytes) bytes = read_rest(file, Batch::kMaxValueBytes);
  if (std::max<std::uint64_t>(file.size(), bytes.size()) <= Batch::kMaxValueBytes) return bytes;
  usage_error(
      fmt::format("{}: is larger than {}, the max size of a value", file.name(), human_bytes(Batch::kMaxValueBytes)));
}

}  // namespace

int run_put(Arguments arguments) {
  StoreArguments store;
  std::string key;
  std::optional<std::string> value;
  std::string path;
  std::string lifetime;
  std::string expected;
  bool if_absent = false;
  bool sync = false;
  CommandLine line({.summary = "Stores a value under a key. The value is a word, or the bytes of a file, taken as they "
                               "are even with --hex. Creates the store and the keyspace if missing.",
                    .usage = "DIR KEY (VALUE | --from-file FILE) [--if-value VALUE | --if-absent] [--keyspace NAME] "
                             "[--expires-in TIME] [--sync]",
                    .example = "  tamis put cities paris 2102650\n"
                               "  tamis put cities low -- -5\n"
                               "  tamis put pictures logo --from-file logo.png\n"
                               "  gzip < page.html | tamis put pages index --from-file -\n"
                               "  tamis put shop ada 1815 --keyspace users\n"
                               "  tamis put sessions 7f3a ada --expires-in 30min\n"
                               "  tamis put locks backup $$ --if-absent || echo taken",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operand("KEY", "the key", key);
  line.optional_operand("VALUE", "the value; may be empty", value);
  line.option("--from-file", "FILE", "read the value from this file; - for standard input", path);
  line.option("--expires-in", "TIME", "the value expires after this time: a number of ms, s, min, h or d", lifetime);
  line.option("--if-value", "VALUE", "only if the key has this value; otherwise exit status 1", expected);
  line.flag("--if-absent", "only if the key is absent; otherwise exit status 1", if_absent);
  line.flag("--sync", kSyncHelp, sync);
  if (!line.read(arguments)) return kExitOk;
  const bool if_value = line.given("--if-value");
  if (if_value && if_absent) usage_error("--if-value and --if-absent exclude each other");
  if (value && line.given("--from-file")) usage_error("give the value as a word or with --from-file, not both");
  if (!value && !line.given("--from-file")) usage_error("VALUE is missing; see 'tamis put --help'");
  key = bytes_of_word(key, "the key", line.common());
  value = value ? bytes_of_word(*value, "the value", line.common()) : value_in_file(path);
  const WriteOptions how{.sync = sync, .expires_in = line.given("--expires-in") ? time_of(lifetime) : 0ms};
  DB db = store.open(StoreUse::kCreate);
  Keyspace keyspace = store.keyspace(db, StoreUse::kCreate);
  if (!if_value && !if_absent) return done(db, keyspace.put(key, *value, how), line.common());
  std::optional<std::string> before;
  if (if_value) before = bytes_of_word(expected, "the value", line.common());
  return done_if(db, keyspace.put_if(key, before, *value, how), line.common());
}

int run_delete(Arguments arguments) {
  StoreArguments store;
  std::string key;
  std::string expected;
  bool sync = false;
  CommandLine line({.summary = "Removes a key. Removing an absent key is not an error.",
                    .usage = "DIR KEY [--if-value VALUE] [--keyspace NAME] [--sync]",
                    .example = "  tamis delete cities paris\n"
                               "  tamis delete locks backup --if-value 4711",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operand("KEY", "the key", key);
  line.option("--if-value", "VALUE", "only if the key has this value; otherwise exit status 1", expected);
  line.flag("--sync", kSyncHelp, sync);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  DB db = store.open(StoreUse::kWrite);
  Keyspace keyspace = store.keyspace(db, StoreUse::kWrite);
  if (!line.given("--if-value")) return done(db, keyspace.remove(key, {.sync = sync}), line.common());
  const std::string before = bytes_of_word(expected, "the value", line.common());
  return done_if(db, keyspace.remove_if(key, before, {.sync = sync}), line.common());
}

int run_delete_range(Arguments arguments) {
  StoreArguments store;
  std::string from;
  std::optional<std::string> to;
  bool sync = false;
  CommandLine line(
      {.summary = "Removes all keys from FROM (inclusive) to TO (exclusive), or to the last key without TO.",
       .usage = "DIR FROM [TO] [--keyspace NAME] [--sync]",
       .example = "  tamis delete-range cities m p",
       .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operand("FROM", "the first key", from);
  line.optional_operand("TO", "the first key that stays", to);
  line.flag("--sync", kSyncHelp, sync);
  if (!line.read(arguments)) return kExitOk;
  from = bytes_of_word(from, "FROM", line.common());
  if (to) to = bytes_of_word(*to, "TO", line.common());
  DB db = store.open(StoreUse::kWrite);
  return done(db, store.keyspace(db, StoreUse::kWrite).remove_range(from, to, {.sync = sync}), line.common());
}

}  // namespace tamis::cli
