// tamis get, tamis multi-get, tamis explain: look up keys.
#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/store/common.h"
#include "cli/store/entry_text.h"
#include "cli/store/merge.h"
#include "cli/verbs.h"

namespace tamis::cli {
int run_get(Arguments arguments) {
  StoreArguments store;
  std::string key;
  bool raw = false;
  bool is_number = false;
  CommandLine line({.summary = "Prints the value of a key and a newline. Exits with status 1 if the key is not found.",
                    .usage = "DIR KEY [--keyspace NAME] [--raw] [--number]",
                    .example = "  tamis get cities paris\n"
                               "  tamis get pictures logo --raw > logo.png\n"
                               "  tamis get shop ada --keyspace users",
                    .common = kJson | kHex | kQuiet});
  store.declare_with_keyspace(line);
  line.operand("KEY", "the key", key);
  line.flag("--raw", "print the value without a newline", raw);
  line.flag("--number", "print a value of eight bytes, as 'tamis merge' makes them, as a number", is_number);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  key = bytes_of_word(key, "the key", options);
  DB db = store.open(StoreUse::kRead);
  const Keyspace keyspace = store.keyspace(db, StoreUse::kRead);
  std::optional<std::string> value = need(keyspace.get(key));
  if (is_number && value) value = number_text(*value, operator_of(db, store.keyspace_name));
  Output& out = standard_output();
  if (options.json) {
    JsonObject object = entry_json(key, value, value.has_value(), options);
    const Iterator entry = keyspace.scan({.from = key});
    const bool is_it = value && entry.valid() && entry.key() == key;
    if (is_it && entry.expires_at()) object.add("expires_at", milliseconds_of(*entry.expires_at()));
    out.write(object.line());
  } else if (value) {
    out.write(is_number ? *value : shown(*value, options));
    if (!raw) out.write("\n");
  } else if (!options.quiet) {
    report_error(fmt::format("{}: key {} not found", store.directory, quoted(key)));
  }
  return value ? kExitOk : kExitNo;
}

int run_multi_get(Arguments arguments) {
  StoreArguments store;
  std::vector<std::string> words;
  CommandLine line({.summary =
                        "Looks up several keys in one snapshot. Prints key, tab and value of each key found, in the "
                        "order given. Exits with status 1 if any key is not found.",
                    .usage = "DIR KEY... [--keyspace NAME]",
                    .example = "  tamis multi-get cities paris lyon rome",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operands("KEY", "the keys; after -- they may begin with '-'", words);
  if (!line.read(arguments)) return kExitOk;
  const CommonOptions& options = line.common();
  for (std::string& word : words) word = bytes_of_word(word, "the key", options);
  const std::vector<std::string_view> keys(words.begin(), words.end());

  DB db = store.open(StoreUse::kRead);
  const auto values = store.keyspace(db, StoreUse::kRead).multi_get(keys);
  bool all_found = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::optional<std::string>& value = values[i].ok() ? *values[i] : throw CommandError(values[i].status());
    if (value) {
      print_entry(keys[i], *value, options.json ? EntryFormat::kJsonLines : EntryFormat::kTsv, options);
    } else {
      all_found = false;
      if (options.json) standard_output().write(entry_json(keys[i], std::nullopt, false, options).line());
    }
  }
  return all_found ? kExitOk : kExitNo;
}

int run_explain(Arguments arguments) {
  StoreArguments store;
  std::string key;
  CommandLine line({.summary =
                        "Looks up a key and shows every step: memtables, runs and tables, filter answers, blocks "
                        "read, cost. Exits with status 0 whether or not the key is found.",
                    .usage = "DIR KEY [--keyspace NAME]",
                    .example = "  tamis explain cities rome",
                    .common = kJson | kHex});
  store.declare_with_keyspace(line);
  line.operand("KEY", "the key", key);
  if (!line.read(arguments)) return kExitOk;
  key = bytes_of_word(key, "the key", line.common());
  DB db = store.open(StoreUse::kRead);
  const Explanation explanation = need(store.keyspace(db, StoreUse::kRead).explain(key));
  print_report(line.common().json ? explanation.to_json(line.common().hex) + "\n" : explanation.to_text());
  return kExitOk;
}

}  // namespace tamis::cli
