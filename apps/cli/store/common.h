// Shared by the store verbs: opening a store, ranges of keys, and the JSON of entries and problems.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "tamis/db.h"
#include "text/json.h"

namespace tamis::cli {

/// Why a verb opens a store; decides lock and creation.
enum class StoreUse : unsigned char {
  kRead,    ///< Changes nothing; others may read at the same time. Follows a process that writes.
  kCopy,    ///< Changes nothing that others see; the store must exist. Follows a process that writes.
  kWrite,   ///< The store must exist.
  kCreate,  ///< Creates the store if missing.
};

/// DIR and --option, for every store verb; --keyspace, for those that read or write entries; also --read-only, which is
/// unlisted: verbs that read open the store that way anyway, and verbs that write refuse it.
struct StoreArguments {
  std::string directory;
  std::string keyspace_name = "default";
  std::vector<std::string> settings;
  bool read_only = false;

  void declare(CommandLine& line);
  /// The same and --keyspace; `help` says what it selects.
  void declare_with_keyspace(CommandLine& line, std::string_view help = "use this keyspace instead of the default one");
  /// The same as `declare`, without DIR.
  void declare_options(CommandLine& line);
  /// DIR, for a verb that does not open the store: the options are accepted and ignored.
  void declare_folder(CommandLine& line);
  /// The options as set; invalid ones are usage errors.
  [[nodiscard]] Options options(StoreUse use) const;
  /// Opens the store. Missing: status 3, and the message says how to create one; locked: 5; damaged or newer: 4.
  [[nodiscard]] DB open(StoreUse use) const;
  /// Opens the store for writing, or nullopt if there is none.
  [[nodiscard]] std::optional<DB> open_if_there() const;
  /// The keyspace that --keyspace names, in this store. kCreate makes it if missing; otherwise that is status 3.
  [[nodiscard]] Keyspace keyspace(DB& db, StoreUse use) const;
  /// Refuses what cannot be a store before opening anything: status 3.
  void need_folder(bool may_be_missing) const;
};

/// --prefix, --from and --to, for scan and count; compact has no prefix.
struct RangeArguments {
  std::string prefix;
  std::string from;
  std::string to;

  void declare(CommandLine& line);
  void declare_bounds(CommandLine& line);
  /// Call after reading the line; decodes --hex. The result refers to this object.
  [[nodiscard]] ScanOptions scan(const CommandLine& line);
};

/// The KeyspaceInfo of this name; null if there is none.
const KeyspaceInfo* find_keyspace(const std::vector<KeyspaceInfo>& keyspaces, std::string_view name);

/// For a store that could not be opened. Its options were checked before, so kInvalidArgument is about what was found.
CommandError error_of_opening(const Status& status);

/// Since 1970.
inline std::uint64_t milliseconds_of(ExpiryTime time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

/// {"key": …, "value": …, "found": true}; without a value it has no such member.
JsonObject entry_json(std::string_view key, std::optional<std::string_view> value, bool found,
                      const CommonOptions& options);
}  // namespace tamis::cli
