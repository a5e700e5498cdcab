// The second half of a repair: the new store.
#pragma once

#include <string>

#include "io/file_system.h"
#include "repair/repair_survey.h"
#include "tamis/status.h"
#include "tree/manifest.h"

namespace tamis {

/// Writes damaged tables anew, what journals hold to tables, and a manifest over all of it. Files that are not needed
/// any more are in lost/ before that, and go from their old place after it: a crash at any moment leaves every file
/// where a repair, done again, finds it.
Status write_repaired_store(FileSystem& files, const std::string& directory, RepairSurvey survey, RandomSource& random);

}  // namespace tamis
