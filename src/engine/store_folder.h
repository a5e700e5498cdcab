// Whether a folder holds a store of ours or another program's files.
#pragma once

#include <string>
#include <vector>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// The files of a folder that are named like ours, without LOCK and lost/. LevelDB and RocksDB also have CURRENT, LOCK
/// and MANIFEST-000001, so only a file's first bytes prove that it is ours.
struct StoreFolder {
  std::vector<std::string> proven;      ///< They begin, or as tables end, with our magic.
  std::vector<std::string> only_named;  ///< Tables, journals and temporary files, damaged or not ours.
  std::vector<std::string> not_ours;    ///< CURRENT or a manifest without our magic: damaged, or another program's.
  bool is_of_another = false;           ///< CURRENT is text that names a manifest, as LevelDB and RocksDB write it.
  bool is_blank = true;                 ///< Files of only_named are empty: a crash left them.
  Status unreadable;                    ///< Why CURRENT or a manifest could not be read.

  [[nodiscard]] bool has_names() const { return !proven.empty() || !only_named.empty() || !not_ours.empty(); }
  /// Ours, or the beginning of a store, and not another program's.
  [[nodiscard]] bool may_be_destroyed() const {
    return !is_of_another && (!proven.empty() || (is_blank && not_ours.empty()));
  }
};

Result<StoreFolder> look_at_folder(FileSystem& files, const std::string& directory);

/// Whether a store may be opened or created here; called before anything is written. kInvalidArgument for a folder of
/// LevelDB or RocksDB, and for one with a manifest or a lock that is not ours.
Status check_may_be_opened(FileSystem& files, const std::string& directory);

/// Whether this may be repaired: at least one file is provably ours, and CURRENT is not another program's.
/// kInvalidArgument otherwise; kIoError if there is nothing.
Status check_is_store(const StoreFolder& folder, const std::string& directory);

}  // namespace tamis
