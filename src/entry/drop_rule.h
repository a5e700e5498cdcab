// Which versions of a key a compaction may drop without any reader noticing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "entry/entry.h"

namespace tamis {

/// Snapshots divide the sequences into stripes: stripe i holds what snapshot i sees and snapshot i-1 does not; the last
/// stripe, what was written after every snapshot. Within a stripe, readers see only the newest version of each key.
/// `snapshots` ascend and include, besides the users' snapshots, the sequence published when they were copied, which
/// readers without a snapshot use.
std::size_t stripe_of(Sequence sequence, std::span<const Sequence> snapshots);

enum class VersionFate : std::uint8_t {
  kKeep,
  kDrop,
  /// A delete that every reader sees and that covers no other input any more. It is dropped if no run older than all
  /// inputs can hold the key. Checked only here, because it costs a look at bounds or filters.
  kDropIfNothingOlder,
};

/// Decides for one version; the versions of a key come newest first. `newer` is the sequence of the preceding version,
/// kept or not; none for the newest. Pure.
///
/// A version is dropped if a newer one is in its stripe. A delete is also dropped if it is at or below the oldest
/// snapshot and nothing older than the inputs is left for it to cover; its own older versions are in its stripe.
VersionFate fate_of(EntryKind kind, Sequence sequence, std::optional<Sequence> newer,
                    std::span<const Sequence> snapshots);

}  // namespace tamis
