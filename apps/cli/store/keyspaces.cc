// tamis keyspaces: lists, creates and drops the keyspaces of a store.
#include "cli/store/keyspaces.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/bytes_text.h"
#include "cli/numbers.h"
#include "cli/store/common.h"
#include "cli/table.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

/// Calls use(name, value) for each "name=value" line.
template <typename Use>
void each_option(const KeyspaceInfo& keyspace, const Use& use) {
  std::string_view text = keyspace.options;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t equals = std::min(line.find('='), line.size());
    use(line.substr(0, equals), line.substr(std::min(equals + 1, line.size())));
  }
}

std::string options_cell(const KeyspaceInfo& keyspace) {
  std::string text;
  each_option(keyspace, [&](std::string_view name, std::string_view value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  });
  return text;
}

/// Names are any bytes.
std::string name_cell(std::string_view name) {
  constexpr std::size_t kShown = 24;
  return is_printable(name) && name.size() <= kShown ? std::string(name) : quoted(name);
}

/// Those options of the command line that a keyspace can set for itself. The others apply to this opening of the store.
KeyspaceOptions own_options(const StoreArguments& store) {
  KeyspaceOptions options;
  for (const std::string_view setting : store.settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view name = setting.substr(0, equals);
    // Its value has been checked: an error says that the option applies to the whole store.
    (void)set_keyspace_option(options, name, setting.substr(std::min(equals + 1, setting.size())));
  }
  return options;
}

int list(const StoreArguments& store, const CommonOptions& options) {
  const std::vector<KeyspaceInfo> keyspaces = store.open(StoreUse::kRead).keyspaces();
  if (!options.json) {
    print_report(keyspaces_text(keyspaces));
    return kExitOk;
  }
  for (const KeyspaceInfo& keyspace : keyspaces) standard_output().write(keyspace_json(keyspace).line());
  return kExitOk;
}

/// Of a keyspace that exists, it changes the options.
int create(const StoreArguments& store, const std::string& name, const CommonOptions& options) {
  DB db = store.open(StoreUse::kCreate);
  const std::vector<KeyspaceInfo> before = db.keyspaces();
  const bool is_new = find_keyspace(before, name) == nullptr;
  need(db.keyspace(name, own_options(store)).status());
  const std::vector<KeyspaceInfo> now = db.keyspaces();
  const KeyspaceInfo keyspace = *find_keyspace(now, name);
  need(db.close());
  if (options.json) {
    standard_output().write(keyspace_json(keyspace).add("created", is_new).line());
  } else if (!options.quiet) {
    const std::string own = options_cell(keyspace);
    standard_output().print("keyspace {} {}{}{}\n", quoted(name), is_new ? "created" : "exists",
                            own.empty() ? "" : " with ", own);
  }
  return kExitOk;
}

int drop(const StoreArguments& store, const std::string& name, const CommonOptions& options) {
  DB db = store.open(StoreUse::kWrite);
  (void)store.keyspace(db, StoreUse::kWrite);  // Must exist.
  const std::vector<KeyspaceInfo> keyspaces = db.keyspaces();
  const KeyspaceInfo dropped = *find_keyspace(keyspaces, name);
  need(db.drop_keyspace(name));
  need(db.close());
  if (options.json) {
    standard_output().write(keyspace_json(dropped).add("dropped", true).line());
  } else if (!options.quiet) {
    standard_output().print("keyspace {} dropped with {} {} in {} {}, {}\n", quoted(name),
                            with_thousands(dropped.entries), dropped.entries == 1 ? "entry" : "entries",
                            with_thousands(dropped.tables), dropped.tables == 1 ? "table" : "tables",
                            human_bytes(dropped.bytes_on_disk));
  }
  return kExitOk;
}

}  // namespace

std::string keyspaces_text(const std::vector<KeyspaceInfo>& keyspaces) {
  Table table({{"keyspace", Table::Align::kLeft},
               {"id"},
               {"entries"},
               {"tables"},
               {"bytes"},
               {"options", Table::Align::kWrap}});
  for (const KeyspaceInfo& keyspace : keyspaces) {
    table.add({name_cell(keyspace.name), std::to_string(keyspace.id), with_thousands(keyspace.entries),
               with_thousands(keyspace.tables), human_bytes(keyspace.bytes_on_disk), options_cell(keyspace)});
  }
  return table.text();
}

JsonObject keyspace_json(const KeyspaceInfo& keyspace) { return JsonObject().add_fields(keyspace.to_json()); }

int run_keyspaces(Arguments arguments) {
  StoreArguments store;
  std::string created;
  std::string dropped;
  CommandLine line(
      {.summary = "Lists the keyspaces of a store: entries (old versions and tombstones included), tables, bytes, "
                  "and the options that each sets for itself. Creates one, or drops one with all it holds. "
                  "--create creates the store too, and changes the options of a keyspace that exists.",
       .usage = "DIR [--create NAME [--option NAME=VALUE...] | --drop NAME]",
       .example = "  tamis keyspaces shop\n"
                  "  tamis keyspaces shop --create logs --option codec_last=zstd --option fanout=4\n"
                  "  tamis keyspaces shop --drop logs",
       .common = kJson | kQuiet});
  store.declare(line);
  line.option("--create", "NAME", "create this keyspace; the options are stored, except those of the whole store",
              created);
  line.option("--drop", "NAME", "drop this keyspace: its entries are gone for good", dropped);
  if (!line.read(arguments)) return kExitOk;
  if (line.given("--create") && line.given("--drop")) usage_error("give only one of --create, --drop");
  const bool is_list = !line.given("--create") && !line.given("--drop");
  if (is_list) return list(store, line.common());
  store.keyspace_name = line.given("--create") ? created : dropped;
  return line.given("--create") ? create(store, created, line.common()) : drop(store, dropped, line.common());
}

}  // namespace tamis::cli
