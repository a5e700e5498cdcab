// Where a store's random numbers come from: ids, salts, its key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "table/table_format.h"
#include "tree/manifest.h"

namespace tamis {

/// The machine's, or, for runs that can be had again, a seed's. May be used by any thread.
std::unique_ptr<Manifest::Random> make_random_source(std::optional<std::uint64_t> seed);

/// A new store's id and key.
TableIdentity draw_identity(Manifest::Random& random);

}  // namespace tamis
