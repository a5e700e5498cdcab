// The files of a store's folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/store_context.h"
#include "io/file_system.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// The files that are ours, by kind.
struct StoreFiles {
  bool has_current = false;
  bool has_counters = false;
  std::vector<std::uint64_t> journals;  ///< Ascending.
  std::vector<std::uint64_t> tables;    ///< Ascending.
  std::vector<std::uint64_t> value_files;
  std::vector<std::uint64_t> manifests;
  std::vector<std::string> temporaries;

  static Result<StoreFiles> list(FileSystem& files, const std::string& directory);
  /// Tables are opened when they are first read; that one is missing is known before.
  [[nodiscard]] Status check_tables_are_there(const ManifestState& state, const std::string& directory) const;
};

/// Makes the folder where that is wanted, checks that it may hold a store of ours, and locks it.
Result<std::unique_ptr<FileLock>> lock_folder(const StoreContext& context);

/// kNotSupported if files of the store cannot be read past the page cache. It has a CURRENT.
Status check_direct_reads(const StoreContext& context);

/// Whether a store is here that a follower can read.
Status check_can_be_followed(const StoreContext& context);

/// Removes what is provably not needed (rule 19): temporary files; tables and value files whose number was
/// reserved and that the manifest does without; journals before the first one needed; manifests before CURRENT's.
Status remove_redundant_files(const StoreContext& context, Catalog& catalog);

}  // namespace tamis
