// The statistics of a store as JSON: what `tamis stats --json` prints.
#pragma once

#include <optional>
#include <vector>

#include "tamis/keyspace.h"
#include "tamis/stats.h"
#include "text/json.h"

namespace tamis::cli {

/// `stats` are the writer's if there is a writer.
JsonObject stats_json(const Stats& stats, const std::vector<KeyspaceInfo>& keyspaces,
                      const std::optional<WriterStats>& writer);

}  // namespace tamis::cli
