#include "cli/store/common.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "base/nearest_word.h"
#include "cli/bytes_text.h"
#include "cli/output.h"

namespace tamis::cli {
namespace {

constexpr std::string_view kHowToMakeOne = "'tamis put' or 'tamis load' creates one";

bool is_missing(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) != 0 && errno == ENOENT;
}

bool is_other_than_folder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISDIR(info.st_mode);
}

constexpr std::size_t kMaxNameBytes = 255;

bool is_no_store(const Status& status) { return status.message().ends_with("no store is here"); }

/// Status 3, as for a missing store.
[[noreturn]] void refuse_missing_keyspace(const std::string& directory, std::string_view name,
                                          const std::vector<KeyspaceInfo>& keyspaces) {
  std::vector<std::string_view> names;
  names.reserve(keyspaces.size());
  for (const KeyspaceInfo& keyspace : keyspaces) names.push_back(keyspace.name);
  const auto guess = nearest_word(name, names);
  throw CommandError(kExitInputOutput, fmt::format("{}: there is no keyspace {}; {}", directory, quoted(name),
                                                   guess ? fmt::format("did you mean {}?", quoted(*guess))
                                                         : fmt::format("'tamis keyspaces {}' lists them", directory)));
}

}  // namespace

CommandError error_of_opening(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument: return {kExitInputOutput, std::string(status.message())};
    case StatusCode::kNotSupported: return {kExitCorruption, std::string(status.message())};
    case StatusCode::kBusy:
      return {kExitBusy, fmt::format("{}; try again once that process has closed the store", status.message())};
    default: break;
  }
  if (is_no_store(status)) {
    return {kExitInputOutput, fmt::format("{}; {}", status.message(), kHowToMakeOne)};
  }
  return CommandError(status);
}

void StoreArguments::declare(CommandLine& line) {
  line.operand("DIR", "the store's folder", directory);
  declare_options(line);
}

void StoreArguments::declare_with_keyspace(CommandLine& line, std::string_view help) {
  declare(line);
  line.option("--keyspace", "NAME", help, keyspace_name);
}

void StoreArguments::declare_options(CommandLine& line) {
  line.repeated("--option", "NAME=VALUE", "set an option; 'tamis options' lists them; may be repeated", settings);
  line.unlisted_flag("--read-only", read_only);
}

void StoreArguments::declare_folder(CommandLine& line) {
  line.operand("DIR", "the store's folder", directory);
  line.unlisted_option("--option", settings);
  line.unlisted_flag("--read-only", read_only);
}

Options StoreArguments::options(StoreUse use) const {
  if (keyspace_name.empty() || keyspace_name.size() > kMaxNameBytes) {
    usage_error(fmt::format("the name of a keyspace has 1 to {} bytes", kMaxNameBytes));
  }
  Options options;
  options.read_only = read_only || use == StoreUse::kRead;
  options.create_if_missing = use == StoreUse::kCreate && !options.read_only;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      usage_error(fmt::format("--option: '{}' is not NAME=VALUE, such as memory_bytes=64MiB", setting));
    }
    const std::string_view text = setting;
    need(set_option(options, text.substr(0, equals), text.substr(equals + 1)));
  }
  need(check_options(options));
  return options;
}

DB StoreArguments::open(StoreUse use) const {
  const Options wanted = options(use);
  need_folder(wanted.create_if_missing);
  Result<DB> opened = DB::open(directory, wanted);
  const bool may_follow = use == StoreUse::kRead || use == StoreUse::kCopy;
  if (may_follow && opened.status().code() == StatusCode::kBusy) {
    report_note(fmt::format("{}; this is what that process has committed", opened.status().message()));
    Options following = wanted;
    following.read_only = following.follows = true;
    opened = DB::open(directory, following);
  }
  if (!opened.ok()) throw error_of_opening(opened.status());
  if (read_only && use != StoreUse::kRead) usage_error("--read-only: this verb changes the store; remove the option");
  return std::move(opened).value();
}

std::optional<DB> StoreArguments::open_if_there() const {
  if (read_only) return open(StoreUse::kWrite);
  const Options wanted = options(StoreUse::kWrite);
  need_folder(true);
  if (is_missing(directory)) return std::nullopt;
  Result<DB> opened = DB::open(directory, wanted);
  if (opened.ok()) return std::move(opened).value();
  if (is_no_store(opened.status())) return std::nullopt;
  throw error_of_opening(opened.status());
}

Keyspace StoreArguments::keyspace(DB& db, StoreUse use) const {
  if (use != StoreUse::kCreate && keyspace_name != "default") {
    const std::vector<KeyspaceInfo> keyspaces = db.keyspaces();
    if (find_keyspace(keyspaces, keyspace_name) == nullptr) {
      refuse_missing_keyspace(directory, keyspace_name, keyspaces);
    }
  }
  return need(db.keyspace(keyspace_name));
}

void StoreArguments::need_folder(bool may_be_missing) const {
  if (directory.empty()) usage_error("DIR is empty; it names the store's folder");
  if (!may_be_missing && is_missing(directory)) {
    throw CommandError(kExitInputOutput, fmt::format("{}: no store is here; {}", directory, kHowToMakeOne));
  }
  if (is_other_than_folder(directory)) {
    throw CommandError(kExitInputOutput, fmt::format("{}: is a file, not a store's folder", directory));
  }
}

void RangeArguments::declare(CommandLine& line) {
  line.option("--prefix", "P", "keys that begin with this", prefix);
  declare_bounds(line);
}

void RangeArguments::declare_bounds(CommandLine& line) {
  line.option("--from", "A", "keys from this one (inclusive)", from);
  line.option("--to", "B", "keys up to this one (exclusive)", to);
}

ScanOptions RangeArguments::scan(const CommandLine& line) {
  prefix = bytes_of_word(prefix, "--prefix:", line.common());
  from = bytes_of_word(from, "--from:", line.common());
  to = bytes_of_word(to, "--to:", line.common());
  ScanOptions range = {.prefix = prefix, .fills_cache = false};
  if (line.given("--from")) range.from = from;
  if (line.given("--to")) range.to = to;
  return range;
}

const KeyspaceInfo* find_keyspace(const std::vector<KeyspaceInfo>& keyspaces, std::string_view name) {
  const auto found = std::ranges::find(keyspaces, name, &KeyspaceInfo::name);
  return found == keyspaces.end() ? nullptr : &*found;
}

JsonObject entry_json(std::string_view key, std::optional<std::string_view> value, bool found,
                      const CommonOptions& options) {
  JsonObject object;
  object.add_bytes("key", key, options.hex);
  if (value) object.add_bytes("value", *value, options.hex);
  return object.add("found", found);
}

}  // namespace tamis::cli
