// Whose folder it is: ours, another program's, or nobody's.
#pragma once

#include <string>
#include <vector>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// The files of a folder that have names of ours. LevelDB and RocksDB have CURRENT, LOCK and MANIFEST-000001 too, so a
/// name proves nothing: the first bytes do. LOCK and lost/ are not among them.
struct StoreFolder {
  std::vector<std::string> proven;      ///< They begin with our magic; or end with it, of tables.
  std::vector<std::string> only_named;  ///< The names of tables, journals and temporary files, damaged or not ours.
  std::vector<std::string> not_ours;    ///< CURRENT or a manifest without our magic: damaged, or another program's.
  bool is_of_another = false;           ///< CURRENT is text that names a manifest, as LevelDB and RocksDB write it.
  bool is_blank = true;                 ///< Those of only_named hold nothing yet: a crash left them while one was made.
  Status unreadable;                    ///< Why nobody knows whose CURRENT or a manifest is.

  [[nodiscard]] bool has_names() const { return !proven.empty() || !only_named.empty() || !not_ours.empty(); }
  /// Ours, or the beginnings of a store, and no other's.
  [[nodiscard]] bool may_be_destroyed() const {
    return !is_of_another && (!proven.empty() || (is_blank && not_ours.empty()));
  }
};

Result<StoreFolder> look_at_folder(FileSystem& files, const std::string& directory);

/// What may be opened, or made: before LOCK is written to, or anything else. kInvalidArgument for a folder of LevelDB
/// or RocksDB, and where a new store would share the folder with a manifest or a lock that is not ours.
Status check_may_be_opened(FileSystem& files, const std::string& directory);

/// What may be repaired: a folder in which at least one file is provably ours, and CURRENT is not another program's.
/// kInvalidArgument otherwise; kIoError when there is nothing.
Status check_is_store(const StoreFolder& folder, const std::string& directory);

}  // namespace tamis
