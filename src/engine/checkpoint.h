// A copy of a store that costs no copying where files can be linked.
#pragma once

#include <string>

#include "engine/catalog.h"
#include "engine/store_context.h"
#include "engine/tree.h"
#include "tamis/status.h"

namespace tamis {

/// Makes a store of the tables of this moment in a new folder, by hard links where possible. It has no journal: flush
/// first (rule 21). No table is removed meanwhile.
Status copy_tables(const StoreContext& context, const Catalog& catalog, Tree& tree, const std::string& path);

}  // namespace tamis
