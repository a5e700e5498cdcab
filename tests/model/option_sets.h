// Option sets drawn from all choices.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "tamis/keyspace.h"
#include "tamis/options.h"

namespace tamis::test {

/// Any policy, codec, filter kind, cache, prefix rule and block size, with so little memory that flushes, compactions
/// and evictions happen all the time.
Options draw_options(SplitMix64& random);

/// What a keyspace sets for itself: about half of its options; none for the seed 0.
KeyspaceOptions draw_keyspace_options(std::uint32_t seed);

/// Drawn, except that filter kinds, the most numerous, take turns.
std::vector<Options> spread_options(std::size_t count, std::uint64_t seed);

/// "memory_bytes=1MiB codec=lz4 …".
std::string to_text(const Options& options);
Result<Options> parse_options(std::string_view line);

}  // namespace tamis::test
