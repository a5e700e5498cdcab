#include "entry/drop_rule.h"

#include <algorithm>

#include "base/check.h"

namespace tamis {

std::size_t stripe_of(Sequence sequence, std::span<const Sequence> snapshots) {
  return static_cast<std::size_t>(std::ranges::lower_bound(snapshots, sequence) - snapshots.begin());
}

VersionFate fate_of(EntryKind kind, Sequence sequence, std::optional<Sequence> newer,
                    std::span<const Sequence> snapshots) {
  TAMIS_INVARIANT(!newer || *newer >= sequence);
  const std::size_t stripe = stripe_of(sequence, snapshots);
  if (newer && stripe_of(*newer, snapshots) == stripe) return VersionFate::kDrop;
  if (kind == EntryKind::kDelete && stripe == 0) return VersionFate::kDropIfNothingOlder;
  return VersionFate::kKeep;
}

}  // namespace tamis
