// What a rewrite does with merge operands.
#include <gtest/gtest.h>

#include "compaction/rewriter.h"
#include "entry/expiry.h"
#include "entry/merge_operators.h"
#include "support/rewrite_world.h"

namespace tamis::test {
namespace {

Entry put(std::string_view key, std::uint64_t sequence, std::string_view value) {
  return {key, value, Sequence{sequence}, EntryKind::kPut};
}
Entry deleted(std::string_view key, std::uint64_t sequence) {
  return {key, {}, Sequence{sequence}, EntryKind::kDelete};
}
Entry merged(std::string_view key, std::uint64_t sequence, std::string_view operand) {
  return {key, operand, Sequence{sequence}, EntryKind::kMerge};
}

/// With `append`, over an older run that may hold the keys from a to m.
class RewriteMerges : public ::testing::Test {
 protected:
  RewriteMerges() {
    world.spec.keyspace.merge_operator = operators.find("append");
    world.spec.features = Features::of(Feature::kMerges) | Features::of(Feature::kExpiry);
    older.tables = {facts_of(1, "a", "m")};
  }
  void lies_over_older() { world.spec.older_runs = {&older}; }
  /// "k=put@sequence value, …".
  std::string written(const std::vector<Entry>& entries) {
    const RewriteResult result = world.write(entries);
    std::string text;
    for (const OwnedEntry& entry : world.read(result)) {
      const char sign = entry.kind == EntryKind::kMerge ? '+' : entry.kind == EntryKind::kDelete ? '-' : '=';
      text += fmt::format("{}{}{}@{} ", entry.key, sign, entry.kind == EntryKind::kInValue ? "expires" : entry.value,
                          number_of(entry.sequence));
    }
    EXPECT_EQ(result.entries_read, entries.size());
    std::uint64_t operands = 0;
    std::uint64_t kept = 0;
    for (const auto& table : result.tables) {
      operands += table->operands;
      kept += table->entries;
    }
    EXPECT_EQ(operands, static_cast<std::uint64_t>(std::ranges::count(text, '+')));
    EXPECT_EQ(result.entries_dropped, entries.size() - kept);
    return text;
  }

  const MergeOperators operators{{}};
  RewriteWorld world;
  tamis::Run older;
};

TEST_F(RewriteMerges, Rule31_FoldsOntoAValueOrADelete) {
  lies_over_older();
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 8, "b"), put("k", 7, "a"), put("k", 6, "old")}), "k=abc@9 ");
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 8, "b"), deleted("k", 7), put("k", 6, "old")}), "k=bc@9 ");
  EXPECT_EQ(written({put("k", 9, "new"), merged("k", 8, "b"), put("k", 7, "a")}), "k=new@9 ");
  EXPECT_EQ(written({deleted("k", 9), merged("k", 8, "b"), put("k", 7, "a")}), "k-@9 ");
}

TEST_F(RewriteMerges, Rule31_StaysAnOperandWhileSomethingOlderMayBeThere) {
  lies_over_older();
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 8, "b")}), "k+bc@9 ");
  EXPECT_EQ(written({merged("z", 9, "c"), merged("z", 8, "b")}), "z=bc@9 ");
}

TEST_F(RewriteMerges, Rule31_OnlyAFinishedFoldGetsTheSequenceZero) {
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 8, "b")}), "k=bc@0 ");
  EXPECT_EQ(written({merged("k", 9, "c"), put("k", 8, "b")}), "k=bc@0 ");
  world.spec.keyspace.merge_operator = nullptr;
  EXPECT_EQ(written({merged("k", 9, "c"), put("k", 8, "b")}), "k+c@9 k=b@0 ");
}

TEST_F(RewriteMerges, Rule31_DoesNotFoldAcrossASnapshot) {
  lies_over_older();
  world.spec.snapshots = {Sequence{5}, Sequence{7}, Sequence{100}};
  EXPECT_EQ(written({merged("k", 9, "f"), merged("k", 8, "e"), merged("k", 7, "d"), merged("k", 6, "c"),
                     merged("k", 5, "b"), put("k", 4, "a")}),
            "k+ef@9 k+cd@7 k=ab@5 ");
  EXPECT_EQ(written({merged("k", 8, "b"), put("k", 7, "a")}), "k+b@8 k=a@7 ");
  EXPECT_EQ(written({merged("k", 8, "b"), deleted("k", 7)}), "k+b@8 k-@7 ");
  EXPECT_EQ(written({put("k", 8, "c"), merged("k", 7, "b"), put("k", 6, "a")}), "k=c@8 k=ab@7 ");
}

TEST_F(RewriteMerges, Rule31_FoldsOntoAnExpiringValueOnlyWhenItHasExpired) {
  std::string stored;
  append_expiring(stored, {.due = 1000, .value = "a"});
  const std::vector<Entry> entries = {
      merged("k", 9, "c"), merged("k", 8, "b"), {"k", stored, Sequence{7}, EntryKind::kExpiringPut}};
  lies_over_older();
  world.spec.expired_by = {999};
  EXPECT_EQ(written(entries), "k+bc@9 k=expires@7 ");
  world.spec.expired_by = {1000};
  EXPECT_EQ(written(entries), "k=bc@9 ");
}

TEST_F(RewriteMerges, Rule31_ARangeDeleteIsTheEnd) {
  world.spec.range_deletes = {{.range = {"a", "z"}, .sequence = Sequence{8}}};
  world.spec.features |= Features::of(Feature::kRangeDeletes);
  lies_over_older();
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 7, "b"), put("k", 6, "a")}), "k+c@9 ");
  world.spec.older_runs.clear();
  EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 7, "b"), put("k", 6, "a")}), "k=c@0 ");
}

TEST_F(RewriteMerges, Rule32_WithoutAFunctionNothingIsFolded) {
  for (const MergeOperator* missing : {operators.find(""), operators.find("unknown")}) {
    world.spec.keyspace.merge_operator = missing;
    EXPECT_EQ(written({merged("k", 9, "c"), merged("k", 8, "b"), put("k", 7, "a"), put("k", 6, "old")}),
              "k+c@9 k+b@8 k=a@0 ");
  }
}

TEST_F(RewriteMerges, Rule32_AFoldThatFailsLeavesTheOperands) {
  world.spec.keyspace.merge_operator = operators.find("add_i64");
  const std::string one = pack_i64(1);
  EXPECT_EQ(written({merged("k", 9, one), merged("k", 8, one), put("k", 7, "text")}),
            fmt::format("k+{}@9 k=text@0 ", pack_i64(2)));
  EXPECT_EQ(written({merged("k", 9, "x"), merged("k", 8, one), put("k", 7, one)}),
            fmt::format("k+x@9 k+{0}@8 k={0}@0 ", one));
}

}  // namespace
}  // namespace tamis::test
