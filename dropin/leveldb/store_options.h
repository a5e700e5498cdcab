// LevelDB's options, as options of a store.
#pragma once

#include <leveldb/options.h>
#include <tamis/options.h>
#include <tamis/status.h>

#include <string>

namespace tamis::dropin {

/// kNotSupported for a comparator other than "leveldb.BytewiseComparator" and for an Env that a store cannot write
/// through, which is every Env but Default() and NewMemEnv(). With TAMIS_LEVELDB_IGNORE_ENV=1 in the environment of the
/// process, other Envs are accepted and not used.
Status check_supported(const leveldb::Options& options);

/// The options of the store. Those of LevelDB that it has no equal for are not used.
Options store_options(const leveldb::Options& options);

/// The folder of the store of this name.
Result<std::string> store_folder(const leveldb::Options& options, const std::string& name);

}  // namespace tamis::dropin
