// Keyspaces as text, for the verbs that list them.
#pragma once

#include <string>
#include <vector>

#include "tamis/keyspace.h"
#include "text/json.h"

namespace tamis::cli {

/// A table with a row per keyspace.
std::string keyspaces_text(const std::vector<KeyspaceInfo>& keyspaces);
/// {"name": …, "id": …, "entries": …, "tables": …, "bytes": …, "memtable_bytes": …, "options": {…}}.
JsonObject keyspace_json(const KeyspaceInfo& keyspace);

}  // namespace tamis::cli
