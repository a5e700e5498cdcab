// Rule: no reader notices a compaction. Tries all cases with up to five versions and all sets of snapshots.
#include "entry/drop_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tamis {
namespace {

struct Version {
  Sequence sequence;
  EntryKind kind;
};
constexpr std::uint64_t kVersions = 5;

/// Newest first; five sequences, each with a put, a delete or nothing.
std::vector<std::vector<Version>> all_histories() {
  std::vector<std::vector<Version>> all = {{}};
  for (std::uint64_t sequence = kVersions; sequence >= 1; --sequence) {
    for (std::size_t i = 0, before = all.size(); i < before; ++i) {
      for (const EntryKind kind : {EntryKind::kPut, EntryKind::kDelete}) {
        all.push_back(all[i]);
        all.back().push_back({Sequence{sequence}, kind});
      }
    }
  }
  return all;
}

/// Every set of snapshots from 0 to one above the newest version.
std::vector<std::vector<Sequence>> all_snapshot_sets() {
  std::vector<std::vector<Sequence>> all = {{}};
  for (std::uint64_t sequence = 0; sequence <= kVersions + 1; ++sequence) {
    for (std::size_t i = 0, before = all.size(); i < before; ++i) {
      all.push_back(all[i]);
      all.back().push_back(Sequence{sequence});
    }
  }
  return all;
}

/// As a compaction applies the rule.
std::vector<Version> kept(const std::vector<Version>& versions, const std::vector<Sequence>& snapshots,
                          bool older_runs_may_hold_key) {
  std::vector<Version> result;
  std::optional<Sequence> newer;
  for (const Version& version : versions) {
    const VersionFate fate = fate_of(version.kind, version.sequence, newer, snapshots);
    newer = version.sequence;
    if (fate == VersionFate::kDrop) continue;
    if (fate == VersionFate::kDropIfNothingOlder && !older_runs_may_hold_key) continue;
    result.push_back(version);
  }
  return result;
}

/// The put a reader gets, if any: from these versions, or else from an older run.
std::optional<Sequence> read(const std::vector<Version>& versions, Sequence snapshot, std::optional<Sequence> older) {
  for (const Version& version : versions) {
    if (version.sequence > snapshot) continue;
    return version.kind == EntryKind::kPut ? std::optional(version.sequence) : std::nullopt;
  }
  return older;
}

TEST(DropRule, Rule17NoSnapshotAndNoLaterReaderNoticesWhatWasDropped) {
  const auto histories = all_histories();
  ASSERT_EQ(histories.size(), 243U);
  for (const auto& snapshots : all_snapshot_sets()) {
    std::vector<Sequence> readers = snapshots;
    readers.push_back(kMaxSequence);
    for (const auto& versions : histories) {
      const std::vector<Version> with_older = kept(versions, snapshots, true);
      const std::vector<Version> without_older = kept(versions, snapshots, false);
      for (const Sequence reader : readers) {
        for (const std::optional<Sequence> older : {std::optional<Sequence>(), std::optional(Sequence{0})}) {
          ASSERT_EQ(read(with_older, reader, older), read(versions, reader, older));
        }
        ASSERT_EQ(read(without_older, reader, {}), read(versions, reader, {}));
      }
    }
  }
}

/// The rule as documented, for one version.
bool rule_drops(const std::vector<Version>& versions, std::size_t at, const std::vector<Sequence>& snapshots,
                bool older_runs_may_hold_key) {
  const Version& version = versions[at];
  for (std::size_t newer = 0; newer < at; ++newer) {  // No snapshot lies between the two: they share a stripe.
    const bool apart = std::ranges::any_of(snapshots, [&](Sequence snapshot) {
      return version.sequence <= snapshot && snapshot < versions[newer].sequence;
    });
    if (!apart) return true;
  }
  const bool below_oldest = snapshots.empty() || version.sequence <= snapshots.front();
  return version.kind == EntryKind::kDelete && below_oldest && !older_runs_may_hold_key;
}

TEST(DropRule, Rule17DropsWhatTheRuleSaysAndNothingElse) {
  for (const auto& snapshots : all_snapshot_sets()) {
    for (const auto& versions : all_histories()) {
      for (const bool older : {false, true}) {
        std::vector<Sequence> expected;
        for (std::size_t at = 0; at < versions.size(); ++at) {
          if (!rule_drops(versions, at, snapshots, older)) expected.push_back(versions[at].sequence);
        }
        std::vector<Sequence> actual;
        for (const Version& version : kept(versions, snapshots, older)) actual.push_back(version.sequence);
        ASSERT_EQ(actual, expected);
      }
    }
  }
}

TEST(DropRule, TheSameVersionFromTwoRunsIsKeptOnce) {
  EXPECT_EQ(fate_of(EntryKind::kPut, Sequence{5}, Sequence{5}, {}), VersionFate::kDrop);
}

}  // namespace
}  // namespace tamis
