// Trees of several runs, with all that they hold.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "support/table_world.h"
#include "tree/shape.h"
#include "tree/version.h"

namespace tamis::test {

struct TreeOptions {
  std::size_t levels = 4;
  std::uint64_t customers = 90;  ///< Distinct keys of the most frequent kind.
  bool has_long_keys = false;
  bool has_prefix_filters = false;
  bool has_range_filters = false;
  bool has_runs_in_key_order = false;  ///< As after writes in key order.
};

/// Several runs, some of several tables, and all entries in one sorted list.
struct TreeWorld {
  /// Runs newest first, spread over levels; newer runs hold newer sequences.
  TreeWorld(std::uint64_t seed, std::size_t runs, std::size_t keys_per_run, const TreeOptions& wanted = {})
      : random(seed), options(wanted) {
    for (std::size_t run = 0; run < runs; ++run) {
      add_run(static_cast<std::uint32_t>(run * options.levels / runs), runs - run, 1000 * (runs - run), keys_per_run);
    }
    everything.sort();
  }

  void add_run(std::uint32_t level, std::uint64_t id, std::uint64_t first_sequence, std::size_t keys) {
    std::set<std::string> chosen;
    for (std::size_t i = 0; i < keys; ++i) chosen.insert(options.has_runs_in_key_order ? key_of_run(id) : some_key());
    TableEntries part;
    for (const std::string& key : chosen) {
      for (std::uint64_t versions = 1 + random() % 3, v = 0; v < versions; ++v) {
        std::optional<std::string> value;
        if (random() % 5 != 0) value = fmt::format("{} of run {}", v, id);  // Else deleted.
        part.add(key, first_sequence + v, value);
        everything.add(key, first_sequence + v, value);
      }
      if (level > 0 && random() % 8 == 0) finish(level, id, part);
    }
    if (!part.entries.empty()) finish(level, id, part);
    held.push_back(std::move(chosen));
  }

  void finish(std::uint32_t level, std::uint64_t run, TableEntries& part) {
    part.sort();
    TableSpec spec;
    spec.number = next_number++;
    if (options.has_range_filters) spec.range_filter_bits = 16;
    spec.block_bytes = 512;
    spec.identity = identity;
    if (options.has_prefix_filters) spec.prefix_rule = {PrefixRule::Kind::kFirst, 3};
    const TableFacts facts = world.build(part, {random() % 4 == 0 ? "" : "line", 10}, spec);
    edit.added.push_back({level, run, std::make_shared<const TableFacts>(facts)});
    part = {};
  }

  /// Many keys share their first eight bytes; some are empty or differ by a zero byte.
  std::string some_key() {
    if (options.has_runs_in_key_order) return key_of_run(random() % 100);
    switch (random() % 8) {
      case 0: return std::string(random() % 3, '\0');
      case 1:
        if (options.has_long_keys) return std::string(200, 'x') + std::to_string(random() % 300);
        return fmt::format("k{:02}", random() % 60);
      default:
        return fmt::format("customer{:02}", random() % options.customers) +
               (random() % 6 == 0 ? std::string(1, '\0') : "");
    }
  }

  std::string key_of_run(std::uint64_t id) { return fmt::format("{:02} {:03}", id, random() % 300); }

  [[nodiscard]] Shape shape() const {
    Result<Shape> made = Shape().with(edit);
    EXPECT_TRUE(made.ok()) << made.status().to_text();
    return *made;
  }

  std::mt19937_64 random;
  TreeOptions options;
  TableIdentity identity = example_identity();
  TableWorld world;
  TableEntries everything;
  std::vector<std::set<std::string>> held;  // By place of the run.
  ShapeEdit edit;
  std::uint64_t next_number = 1;
};

/// Of a key at a moment, not begun.
inline StagedLookup staged_lookup(std::string_view key, Sequence at) {
  StagedLookup staged;
  staged.lookup = {key, example_hasher()(key), at};
  return staged;
}

inline std::optional<OwnedAnswer> answer_of(const StagedLookup& staged) {
  return staged.answer == LookupAnswer::kFound ? owned(staged.found) : std::nullopt;
}

/// Looks up with `find` alone, which may read from disk.
template <typename Steps>
std::optional<OwnedAnswer> ask(const Version& version, std::string_view key, Sequence at, Steps& steps) {
  StagedLookup staged = staged_lookup(key, at);
  DiskLookup disk(staged);
  version.find({&disk, 1}, true, steps);
  EXPECT_TRUE(disk.status.ok()) << disk.status.to_text();
  return answer_of(staged);
}
inline std::optional<OwnedAnswer> ask(const Version& version, std::string_view key, Sequence at) {
  NoSteps none;
  return ask(version, key, at, none);
}

}  // namespace tamis::test
