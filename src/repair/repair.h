// Making a damaged store usable.
#pragma once

#include <string>

#include "tamis/db.h"
#include "tamis/environment.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

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
Result<RepairReport> repair_store(const std::string& path, bool dry_run, const Environment& environment,
                                  const Progress& progress);

}  // namespace tamis
