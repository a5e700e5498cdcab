// DB::repair: making a damaged store usable.
#include <memory>
#include <optional>
#include <utility>

#include "base/random_source.h"
#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/store_folder.h"
#include "io/file_names.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "repair/repair_survey.h"
#include "repair/repair_write.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// Finds everything in the folder that can be read and writes a manifest that holds it (rule 22).
///
///  1. What the manifest says is true, if it can be read. Otherwise the tables themselves tell: of a compaction whose
///     inputs are all there the outputs are left out, of one whose inputs are partly gone the remaining inputs. The
///     tables also tell up to where no journal is needed.
///  2. A table with damage is written anew from the blocks that can be read.
///  3. Records of the journals are written to a table.
///  4. Without a manifest, the order of tables follows from their sequences; where these interleave, tables are merged.
///
/// Files that are not needed any more are moved to lost/, none is removed. The survey (repair_survey.h) finds out
/// and reports, without writing; a dry run ends there. What it found is then written (repair_write.h).
///
/// `progress` is told of the bytes the survey has looked at; false stops it with kClosed, and nothing was written.
///
/// A dry run writes nothing, not even a LOCK; where there is one, it keeps writers away while it looks.
Result<RepairReport> repair_store(const std::string& folder_path, bool dry_run, const Environment& environment,
                                  const Progress& progress) {
  TAMIS_TRY(const std::string path, plain_path(folder_path));
  FileSystem& files = environment.files != nullptr ? *environment.files : posix_file_system();
  TAMIS_TRY(const StoreFolder folder, look_at_folder(files, path));
  TAMIS_TRY_STATUS(check_is_store(folder, path));
  TAMIS_TRY(const std::optional<std::uint64_t> lock_bytes, files.file_size(lock_path(path)));
  std::unique_ptr<FileLock> lock;
  if (!dry_run || lock_bytes) {
    TAMIS_TRY(lock, files.lock(lock_path(path), dry_run ? LockMode::kShared : LockMode::kExclusive));
  }
  const std::unique_ptr<RandomSource> random = make_random_source(environment.random_seed);
  TAMIS_TRY(RepairSurvey survey, survey_store(files, path, *random, progress));
  RepairReport report = survey.report;
  report.is_dry_run = dry_run;
  if (!dry_run) TAMIS_TRY_STATUS(write_repaired_store(files, path, std::move(survey), *random));
  return report;
}

}  // namespace

Result<RepairReport> DB::repair(const std::string& path, bool dry_run, const Environment& environment,
                                const Progress& progress) {
  return never_throws([&] { return repair_store(path, dry_run, environment, progress); });
}

}  // namespace tamis
