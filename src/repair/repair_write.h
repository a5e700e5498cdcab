// The second half of a repair: writes the new store.
#pragma once

#include <string>

#include "io/file_system.h"
#include "repair/repair_survey.h"
#include "tamis/status.h"
#include "tree/manifest.h"

namespace tamis {

/// Rewrites damaged tables, writes journal entries to tables, and writes a manifest. Files that are no longer needed
/// are linked into lost/ before that and removed from the folder afterwards. So after a crash at any moment, another
/// repair finds every file.
Status write_repaired_store(FileSystem& files, const std::string& directory, RepairSurvey survey, RandomSource& random);

}  // namespace tamis
