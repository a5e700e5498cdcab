#include "engine/repair.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/try.h"
#include "engine/random_source.h"
#include "engine/repair_survey.h"
#include "engine/repair_write.h"
#include "engine/store_folder.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "tree/file_names.h"

namespace tamis {

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
  const std::unique_ptr<Manifest::Random> random = make_random_source(environment.random_seed);
  TAMIS_TRY(RepairSurvey survey, survey_store(files, path, *random, progress));
  RepairReport report = survey.report;
  report.is_dry_run = dry_run;
  if (!dry_run) TAMIS_TRY_STATUS(write_repaired_store(files, path, std::move(survey), *random));
  return report;
}

}  // namespace tamis
