// Which versions of a key a compaction may leave out without any reader noticing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "entry/entry.h"

namespace tamis {

/// Snapshots cut the sequences into stripes: stripe i holds what snapshot i sees and snapshot i-1 does not; the last
/// one, what was written after every snapshot. A reader sees nothing of a stripe but its newest version of each key.
/// `snapshots` ascend and hold, besides those the users keep, the sequence that was published when they were copied:
/// the readers without a snapshot of their own stand there.
std::size_t stripe_of(Sequence sequence, std::span<const Sequence> snapshots);

enum class VersionFate : std::uint8_t {
  kKeep,
  kDrop,
  /// A delete that every reader sees and that covers nothing among the inputs any more. It is dropped when no run
  /// older than all inputs can hold the key, which is worth asking only here: it costs a look at bounds or filters.
  kDropIfNothingOlder,
};

/// Decides over one version, while the versions of a key pass by newest first. `newer` is the sequence of the version
/// that passed before it, kept or not; none for the newest one. Pure.
///
/// A version is dropped when a newer one lies in its stripe. A delete is also dropped when it is at or below the oldest
/// snapshot and nothing older than the inputs is there for it to cover; its own older versions lie in its stripe.
VersionFate fate_of(EntryKind kind, Sequence sequence, std::optional<Sequence> newer,
                    std::span<const Sequence> snapshots);

}  // namespace tamis
