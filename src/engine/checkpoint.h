// A copy of a store that costs no copying where files can be linked.
#pragma once

#include <string>

#include "engine/catalog.h"
#include "engine/keyspaces.h"
#include "engine/store_context.h"
#include "tamis/status.h"
#include "tree/manifest_state.h"

namespace tamis {

/// The tables of the moment at which it is made. None of them is removed while it lives. It has no journal: flush first
/// (rule 21).
///
/// Threads: one.
class Checkpoint {
 public:
  Checkpoint(const Catalog& catalog, Keyspaces& keyspaces);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// Whether there is any but the default one.
  [[nodiscard]] bool spans_keyspaces() const { return state_.keyspaces.size() > 1; }
  /// Makes a store of them in a new folder, by hard links where possible.
  Status copy_to(const StoreContext& context, const std::string& path) const;

 private:
  Keyspaces& keyspaces_;
  ManifestState state_;
};

}  // namespace tamis
