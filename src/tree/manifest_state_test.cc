#include "tree/manifest_state.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "support/manifest_text.h"

namespace tamis {
namespace {

constexpr KeyspaceId kUsers{1};
constexpr KeyspaceId kEvents{2};

ShapeEdit adding(std::uint64_t number) {
  auto facts = std::make_shared<TableFacts>();
  facts->number = number;
  facts->smallest_key = facts->largest_key = std::to_string(number);
  return {.removed = {}, .added = {{.level = 1, .run = 1, .facts = std::move(facts)}}};
}

KeyspaceEdit creating(const std::string& name) { return {.created = NewKeyspace{name, "codec=none\n"}}; }

/// Tables 1, 2 and 3 are in the default keyspace and in two others.
ManifestState three_keyspaces() {
  ManifestState state;
  ManifestEdit edit;
  edit.keyspaces[kDefaultKeyspace] = {.shape = adding(1), .flushed_sequence = 10};
  edit.keyspaces[kUsers] = creating("users");
  edit.keyspaces[kUsers].shape = adding(2);
  edit.keyspaces[kEvents] = creating("events");
  edit.keyspaces[kEvents].shape = adding(3);
  edit.term = 4;
  EXPECT_TRUE(apply_edit(state, edit).ok());
  return state;
}

/// The refusal of an edit to three_keyspaces, which it must leave as they were.
std::string refusal(const ManifestEdit& edit) {
  ManifestState state = three_keyspaces();
  const Status refused = apply_edit(state, edit);
  EXPECT_EQ(refused.code(), StatusCode::kCorruption);
  EXPECT_EQ(test::text_of(state, {}), test::text_of(three_keyspaces(), {}));
  return std::string(refused.message());
}

TEST(ManifestState, AnEditChangesTheKeyspacesThatItNames) {
  ManifestState state = three_keyspaces();
  ManifestEdit edit;
  edit.keyspaces[kUsers] = {.shape = adding(4), .flushed_sequence = 20};
  edit.dropped = {kEvents};
  ASSERT_TRUE(apply_edit(state, edit).ok());
  EXPECT_EQ(state.keyspaces.size(), 2U);
  EXPECT_EQ(state.keyspaces.at(kDefaultKeyspace).shape.to_text(), "L1: 1[1..1]");
  EXPECT_EQ(state.keyspaces.at(kDefaultKeyspace).flushed_sequence, 10U);
  EXPECT_EQ(state.keyspaces.at(kUsers).shape.to_text(), "L1: 2[2..2],4[4..4]");
  EXPECT_EQ(state.keyspaces.at(kUsers).flushed_sequence, 20U);
  EXPECT_EQ(state.keyspaces.at(kUsers).name, "users");
  EXPECT_EQ(state.keyspaces.at(kUsers).options, "codec=none\n");
  EXPECT_EQ(state.next_keyspace, 3U);
  EXPECT_EQ(state.term, 4U);
  EXPECT_EQ(table_numbers(state), (std::vector<std::uint64_t>{1, 2, 4}));
}

TEST(ManifestState, Rule34_AKeyspacesOwnFlushedSequenceCountsAboveTheStores) {
  ManifestState state = three_keyspaces();
  ManifestEdit edit = edit_of(kUsers, {.flushed_sequence = 30});
  edit.flushed_sequence = 12;
  ASSERT_TRUE(apply_edit(state, edit).ok());
  EXPECT_EQ(flushed_sequence_of(state, state.keyspaces.at(kDefaultKeyspace)), 12U);
  EXPECT_EQ(flushed_sequence_of(state, state.keyspaces.at(kUsers)), 30U);
  EXPECT_EQ(flushed_sequence_of(state, state.keyspaces.at(kEvents)), 12U);
  EXPECT_EQ(newest_flushed_sequence_of(state), 30U);
  ManifestState rewritten;
  ASSERT_TRUE(apply_edit(rewritten, whole_edit(state)).ok());
  EXPECT_EQ(newest_flushed_sequence_of(rewritten), 30U);
  EXPECT_EQ(rewritten.flushed_sequence, 12U);
  EXPECT_EQ(apply_edit(state, {.flushed_sequence = 11}).message(), "an edit lowers the flushed sequence from 12 to 11");
  EXPECT_EQ(refusal(edit_of(kDefaultKeyspace, {.flushed_sequence = 9})),
            "an edit lowers the flushed sequence from 10 to 9");
}

TEST(ManifestState, OptionsAreReplacedAsAWhole) {
  ManifestState state = three_keyspaces();
  ASSERT_TRUE(apply_edit(state, edit_of(kUsers, {.options = "fanout=4\n"})).ok());
  EXPECT_EQ(state.keyspaces.at(kUsers).options, "fanout=4\n");
  EXPECT_EQ(state.keyspaces.at(kEvents).options, "codec=none\n");
  ASSERT_TRUE(apply_edit(state, edit_of(kDefaultKeyspace, {.options = "merge_operator=append\n"})).ok());
  ManifestState rewritten;
  ASSERT_TRUE(apply_edit(rewritten, whole_edit(state)).ok());
  EXPECT_EQ(rewritten.keyspaces.at(kDefaultKeyspace).options, "merge_operator=append\n");
  EXPECT_EQ(rewritten.keyspaces.at(kUsers).options, "fanout=4\n");
}

TEST(ManifestState, Rule35_AnIdIsNeverGivenTwice) {
  ManifestState state = three_keyspaces();
  ASSERT_TRUE(apply_edit(state, {.dropped = {kEvents}}).ok());
  const Status reused = apply_edit(state, edit_of(kEvents, creating("events")));
  EXPECT_EQ(reused.message(), "an edit creates keyspace 2, an id that was given before");
  ManifestState rewritten;
  ASSERT_TRUE(apply_edit(rewritten, whole_edit(state)).ok());
  EXPECT_EQ(rewritten.next_keyspace, 3U) << "a new manifest forgets that an id was given";
  EXPECT_FALSE(apply_edit(rewritten, edit_of(kEvents, creating("events"))).ok());
  ASSERT_TRUE(apply_edit(rewritten, edit_of(KeyspaceId{3}, creating("events"))).ok()) << "a name may come back";
  EXPECT_EQ(rewritten.next_keyspace, 4U);
  EXPECT_EQ(refusal({.next_keyspace = 2}), "an edit lowers the next keyspace from 3 to 2");
}

TEST(ManifestState, Rule35_WhatDoesNotExistIsNeitherChangedNorDropped) {
  EXPECT_EQ(refusal(edit_of(KeyspaceId{3}, {.flushed_sequence = 99})),
            "an edit changes keyspace 3, which does not exist");
  EXPECT_EQ(refusal({.dropped = {KeyspaceId{3}}}), "an edit drops keyspace 3, which does not exist");
  EXPECT_EQ(refusal({.dropped = {kDefaultKeyspace}}), "an edit drops the default keyspace");
  EXPECT_EQ(refusal({.dropped = {kUsers, kUsers}}), "an edit drops keyspace 1 twice");
  ManifestEdit both = edit_of(kUsers, {.flushed_sequence = 99});
  both.dropped = {kUsers};
  EXPECT_EQ(refusal(both), "an edit both changes and drops keyspace 1");
  EXPECT_EQ(refusal(edit_of(kDefaultKeyspace, creating("default"))),
            "an edit creates keyspace 0, an id that was given before");
  EXPECT_EQ(refusal(edit_of(KeyspaceId{~std::uint32_t{0}}, creating("last"))),
            "an edit creates a keyspace with the largest id");
}

TEST(ManifestState, NamesAreUnique) {
  EXPECT_EQ(refusal(edit_of(KeyspaceId{3}, creating("users"))), "two keyspaces have the name \"users\"");
  EXPECT_EQ(refusal(edit_of(KeyspaceId{3}, creating(""))), "two keyspaces have the name \"\"");
  ManifestEdit twins;
  twins.keyspaces[KeyspaceId{3}] = creating("twin");
  twins.keyspaces[KeyspaceId{4}] = creating("twin");
  EXPECT_EQ(refusal(twins), "two keyspaces have the name \"twin\"");
  ManifestEdit instead = edit_of(KeyspaceId{3}, creating("users"));
  instead.dropped = {kUsers};
  ManifestState state = three_keyspaces();
  EXPECT_TRUE(apply_edit(state, instead).ok());
}

TEST(ManifestState, ATableIsInOneKeyspace) {
  EXPECT_EQ(refusal(edit_of(kUsers, {.shape = adding(3)})), "table 3 occurs twice");
  ManifestEdit twins;
  twins.keyspaces[kUsers] = {.shape = adding(9)};
  twins.keyspaces[kEvents] = {.shape = adding(9)};
  EXPECT_EQ(refusal(twins), "table 9 occurs twice");
  EXPECT_EQ(refusal(edit_of(kUsers, {.shape = {.removed = {3}, .added = {}}})),
            "an edit removes table 3, which is not in the shape");
}

TEST(ManifestState, Rule41_AValueFileIsInOneKeyspaceAndNeedsItsFeature) {
  ManifestState state = three_keyspaces();
  ShapeEdit adds;
  adds.values_added = {{70, 100, 0}};
  ASSERT_TRUE(apply_edit(state, edit_of(kUsers, {.shape = adds})).ok());
  EXPECT_TRUE(state.features.includes(Features::of(Feature::kValuesApart)));
  EXPECT_EQ(value_file_numbers(state), (std::vector<std::uint64_t>{70}));
  EXPECT_FALSE(apply_edit(state, edit_of(kEvents, {.shape = adds})).ok());
  EXPECT_FALSE(apply_edit(state, edit_of(kEvents, {.shape = adding(70)})).ok());
  adds.values_added = {{3, 100, 0}};
  EXPECT_FALSE(apply_edit(state, edit_of(kUsers, {.shape = adds})).ok()) << "a table of another keyspace";
  ManifestState again;
  ASSERT_TRUE(apply_edit(again, whole_edit(state)).ok());
  EXPECT_EQ(value_file_numbers(again), value_file_numbers(state));
}

TEST(ManifestState, CheckStateFindsWhatNoEditCouldMake) {
  const auto refused = [](const std::function<void(ManifestState&)>& change) {
    ManifestState state = three_keyspaces();
    change(state);
    return std::string(check_state(state).message());
  };
  EXPECT_EQ(refused([](ManifestState&) {}), "");
  EXPECT_EQ(refused([](ManifestState& state) { state.keyspaces.erase(kDefaultKeyspace); }),
            "there is no default keyspace");
  EXPECT_EQ(refused([](ManifestState& state) { state.keyspaces[kEvents].name = "users"; }),
            "two keyspaces have the name \"users\"");
  EXPECT_EQ(refused([](ManifestState& state) { state.keyspaces[kEvents].shape = state.keyspaces[kUsers].shape; }),
            "table 2 occurs twice");
  EXPECT_EQ(refused([](ManifestState& state) { state.keyspaces[kEvents].shape.levels.emplace_back(); }),
            "the last level is empty");
}

TEST(ManifestState, Rule29_TheHorizonNeverFalls) {
  ManifestState state;
  ASSERT_TRUE(apply_edit(state, {.horizon = ExpiryHorizon{.time = 100, .at = {.boot = 7, .milliseconds = 5}}}).ok());
  ASSERT_TRUE(apply_edit(state, {.horizon = ExpiryHorizon{.time = 100, .at = {.boot = 8, .milliseconds = 1}}}).ok());
  EXPECT_EQ(apply_edit(state, {.horizon = ExpiryHorizon{.time = 99, .at = {}}}).code(), StatusCode::kCorruption);
  EXPECT_EQ(state.horizon, (ExpiryHorizon{.time = 100, .at = {.boot = 8, .milliseconds = 1}}));
  EXPECT_EQ(whole_edit(state).horizon, state.horizon);
}

}  // namespace
}  // namespace tamis
