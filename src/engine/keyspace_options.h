// The options that a keyspace sets for itself, as text and applied.
#pragma once

#include <string>
#include <string_view>

#include "tamis/keyspace.h"
#include "tamis/options.h"
#include "tamis/status.h"

namespace tamis {

/// As the manifest keeps them: one line "name=value" for each that is set.
std::string keyspace_options_text(const KeyspaceOptions& options);
/// kNotSupported for an option that this build does not know: a newer one wrote it.
Result<KeyspaceOptions> parse_keyspace_options(std::string_view text);
/// `base`, with those of `more` that are set.
KeyspaceOptions with_options(KeyspaceOptions base, const KeyspaceOptions& more);
/// The store's options, with what the keyspace sets for itself.
Options options_for(const Options& store, const KeyspaceOptions& keyspace);
/// kInvalidArgument for a value out of range.
Status check_keyspace_options(const KeyspaceOptions& options);

}  // namespace tamis
