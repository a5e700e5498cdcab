// What the verbs of a store share: opening it, and bytes of users in and out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/json.h"
#include "tamis/db.h"

namespace tamis::cli {

/// Why a verb opens a store, which decides lock and creation.
enum class StoreUse : unsigned char {
  kRead,    ///< Changes nothing; others may read at the same time.
  kWrite,   ///< The store has to be there.
  kCreate,  ///< Makes one where there is none.
};

/// DIR and --option, which every verb of a store takes; also --read-only, which no help lists: verbs that read open
/// the store so anyway, and those that write refuse it.
struct StoreArguments {
  std::string directory;
  std::vector<std::string> settings;
  bool read_only = false;

  void declare(CommandLine& line);
  /// The same without DIR.
  void declare_options(CommandLine& line);
  /// DIR, for a verb that does not open the store: there the options are accepted and do nothing.
  void declare_folder(CommandLine& line);
  /// The options as set; whatever is wrong with them is a usage error.
  [[nodiscard]] Options options(StoreUse use) const;
  /// The store. A missing one is status 3 and says how to make one; a locked one is 5; a damaged or newer one is 4.
  [[nodiscard]] DB open(StoreUse use) const;
  /// The store for writing, or nothing where there is none yet.
  [[nodiscard]] std::optional<DB> open_if_there() const;
  /// Refuses what cannot be a store before anything is opened: status 3.
  void need_folder(bool may_be_missing) const;
};

/// Of a store that could not be opened. Its options were known to be good, so what was not accepted is what was found.
CommandError error_of_opening(const Status& status);

/// A key or value that was given as a word: the text itself, or what it spells with --hex. `what` is for the message.
std::string bytes_of_word(std::string_view word, std::string_view what, const CommonOptions& options);
/// The same way out.
std::string shown(std::string_view bytes, const CommonOptions& options);
/// `name`, or `name`_hex where --hex was given or the bytes are not UTF-8.
void add_user_bytes(JsonObject& object, std::string_view name, std::string_view bytes, const CommonOptions& options);
/// {"key": …, "value": …, "found": true}.
std::string entry_json(std::string_view key, std::string_view value, const CommonOptions& options);
/// {"key": …, "found": false}.
std::string absence_json(std::string_view key, const CommonOptions& options);
/// Of all tables, overwritten and deleted ones included and those in the journal not: about as many as a scan shows.
std::uint64_t entries_in_tables(const DB& db);
/// {"file": …, "offset": …, "what": …} for each.
std::vector<std::string> problems_json(const std::vector<Problem>& problems);

}  // namespace tamis::cli
