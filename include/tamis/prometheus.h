// Statistics for Prometheus.
//
//     std::string body = tamis::to_prometheus(db.stats(), db.keyspaces());   // Serve it as text/plain; version=0.0.4.
#pragma once

#include <string>
#include <vector>

#include "tamis/export.h"
#include "tamis/keyspace.h"
#include "tamis/stats.h"

namespace tamis {

/// The statistics in Prometheus's text format 0.0.4; docs/METRICS.md lists the names. Give the store's keyspaces for a
/// few numbers of each. A program that serves several stores labels them itself.
[[nodiscard]] TAMIS_EXPORT std::string to_prometheus(const Stats& stats,
                                                     const std::vector<KeyspaceInfo>& keyspaces = {});

}  // namespace tamis
