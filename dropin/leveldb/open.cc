// leveldb::DB::Open, DestroyDB and RepairDB.
#include <leveldb/db.h>
#include <leveldb/dumpfile.h>
#include <leveldb/env.h>
#include <tamis/db.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "database.h"
#include "info_log.h"
#include "posix_files.h"
#include "status.h"
#include "store_options.h"
#include "views.h"

namespace tamis::dropin {
namespace {

bool has_current(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/CURRENT", ignored);
}

/// Programs recognise a lock that is held, and a store that is missing, by these words. Like LevelDB, a folder that
/// cannot be written to is an error of its lock, whether a store is in it or not.
leveldb::Status open_error(const Status& why, const std::string& folder, bool creates) {
  if (why.code() == StatusCode::kBusy)
    return leveldb::Status::IOError("lock " + folder + "/LOCK", slice_of(why.message()));
  if (why.code() == StatusCode::kIoError && !creates && !has_current(folder)) {
    if (::access(folder.c_str(), W_OK) != 0 && errno != ENOENT) return errno_status(folder + "/LOCK", errno);
    return leveldb::Status::InvalidArgument(folder, "does not exist (create_if_missing is false)");
  }
  return leveldb_status(why);
}

/// Like LevelDB, writes what the journal holds to tables: sizes then include it, and the next opening need not read it
/// again.
leveldb::Status open_store(const leveldb::Options& options, const std::string& name, leveldb::DB** database) {
  const Status supported = check_supported(options);
  if (!supported.ok()) return leveldb_status(supported);
  const Result<std::string> folder = store_folder(options, name);
  if (!folder.ok()) return leveldb_status(folder.status());
  auto log = std::make_unique<InfoLog>(options.info_log);
  const Options chosen = store_options(options);
  Result<DB> store = DB::open(*folder, chosen, {.listener = log.get()});
  if (!store.ok()) return open_error(store.status(), *folder, options.create_if_missing);
  log->opened(*folder, chosen);
  const Status flushed = store->flush();
  if (!flushed.ok()) return leveldb_status(flushed);
  *database = new Database(std::move(log), *std::move(store));
  return leveldb::Status::OK();
}

/// LevelDB also removes its lock and the folder, if nothing else is in it.
leveldb::Status destroy_store(const std::string& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder, ignored)) return leveldb::Status::OK();
  const bool was_store = has_current(folder);
  const Status destroyed = DB::destroy(folder);
  if (!destroyed.ok()) return open_error(destroyed, folder, true);
  if (was_store) std::filesystem::remove(folder + "/LOCK", ignored);
  std::filesystem::remove(folder, ignored);
  return leveldb::Status::OK();
}

}  // namespace
}  // namespace tamis::dropin

namespace leveldb {

using tamis::dropin::leveldb_status;

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) {
  *dbptr = nullptr;
  return tamis::dropin::open_store(options, name, dbptr);
}

Status DestroyDB(const std::string& name, const Options& options) {
  const tamis::Result<std::string> folder = tamis::dropin::store_folder(options, name);
  return folder.ok() ? tamis::dropin::destroy_store(*folder) : leveldb_status(folder.status());
}

Status RepairDB(const std::string& dbname, const Options& options) {
  const tamis::Status supported = tamis::dropin::check_supported(options);
  if (!supported.ok()) return leveldb_status(supported);
  const tamis::Result<std::string> folder = tamis::dropin::store_folder(options, dbname);
  if (!folder.ok()) return leveldb_status(folder.status());
  const tamis::Status repaired = tamis::DB::repair(*folder).status();
  return repaired.ok() ? Status::OK() : tamis::dropin::open_error(repaired, *folder, true);
}

Status DumpFile(Env* /*env*/, const std::string& fname, WritableFile* /*dst*/) {
  return Status::NotSupported(fname, "files of a tamis store are shown by 'tamis table' and 'tamis verify'");
}

}  // namespace leveldb
