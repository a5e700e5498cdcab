// DB::repair: makes a damaged store usable.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/random_source.h"
#include "base/try.h"
#include "engine/never_throws.h"
#include "engine/store_context.h"
#include "engine/store_folder.h"
#include "io/file_names.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "repair/repair_survey.h"
#include "repair/repair_write.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// With the manifest the horizon is lost. It begins again at the newest time that a table or a record tells, or at the
/// clock if that is earlier: a clock that is ahead must not destroy what is alive (rule 29).
ExpiryHorizon horizon_of(const RepairSurvey& survey, const StoreContext& context) {
  const bool is_used = survey.state.features.includes(Features::of(Feature::kExpiry));
  if (survey.has_manifest || !is_used || survey.last_time == 0) return survey.state.horizon;
  return {.time = std::min(context.precise_unix_milliseconds(), survey.last_time), .at = context.uptime()};
}

/// Recovers everything in the folder that can be read, and writes a manifest for it (rule 22).
///
///  1. A readable manifest is authoritative. Otherwise the tables decide: a compaction's outputs are left out if all of
///     its inputs exist; if some are missing, the remaining inputs are left out. The tables also record up to where no
///     journal is needed.
///  2. A damaged table is rewritten from its readable blocks.
///  3. Journal entries are written to tables of their keyspaces, except what a keyspace has flushed or was dropped
///     (rules 34, 35). Entries whose keyspace is not known get one of their own.
///  4. Without a manifest, sequences give the order of tables. Tables whose sequences interleave are merged.
///
/// Files that are no longer needed are moved to lost/; none is removed. The survey (repair_survey.h) inspects and
/// reports without writing; a dry run ends there. Then the new store is written (repair_write.h).
///
/// `progress` receives the bytes surveyed so far; false stops with kClosed before anything is written.
///
/// A dry run writes nothing, not even a LOCK. If there is a LOCK, it keeps writers out during the survey.
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
  survey.state.horizon = horizon_of(survey, StoreContext(path, {}, environment));
  if (!dry_run) TAMIS_TRY_STATUS(write_repaired_store(files, path, std::move(survey), *random));
  return report;
}

}  // namespace

Result<RepairReport> DB::repair(const std::string& path, bool dry_run, const Environment& environment,
                                const Progress& progress) {
  return never_throws([&] { return repair_store(path, dry_run, environment, progress); });
}

}  // namespace tamis
