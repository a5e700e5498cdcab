#include "repair/repair_order.h"

#include <gtest/gtest.h>

#include "support/table_facts.h"

namespace tamis {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Rewrites = std::map<std::uint64_t, FoundRewrite>;

std::shared_ptr<const TableFacts> table(std::uint64_t number, std::string from, std::string to, std::uint64_t first,
                                        std::uint64_t last) {
  auto facts = test::facts_of(number, std::move(from), std::move(to));
  facts->smallest_sequence = Sequence{first};
  facts->largest_sequence = Sequence{last};
  return facts;
}

/// "3 | 2+1 4": layers, oldest first; a group is given by its table numbers.
std::string layers_text(std::vector<std::shared_ptr<const TableFacts>> tables) {
  std::string text;
  for (const std::vector<TableGroup>& layer : in_layers(std::move(tables))) {
    if (!text.empty()) text += " |";
    for (const TableGroup& group : layer) {
      std::string numbers;
      for (const auto& facts : group) numbers += (numbers.empty() ? "" : "+") + std::to_string(facts->number);
      text += (text.empty() ? "" : " ") + numbers;
    }
  }
  return text;
}

TEST(RepairOrder, OutputsOfARewriteWhoseInputsAreAllThereAreLeftOut) {
  EXPECT_EQ(tables_without_replaced({1, 2, 3, 4}, Rewrites{{3, {{3, 4}, {1, 2}}}}), (Numbers{1, 2}));
}

TEST(RepairOrder, InputsOfARewriteThatWasFinishedAreLeftOut) {
  EXPECT_EQ(tables_without_replaced({2, 3, 4}, Rewrites{{3, {{3, 4}, {1, 2}}}}), (Numbers{3, 4}));
}

TEST(RepairOrder, AnOutputStaysWhenItsSiblingWasReplacedInTurn) {
  // 1 and 2 became 3 and 4; 3 became 5. The files of 1 and 2 still exist.
  EXPECT_EQ(tables_without_replaced({1, 2, 4, 5}, Rewrites{{3, {{4}, {1, 2}}}, {5, {{5}, {3, 1, 2}}}}),
            (Numbers{4, 5}));
}

TEST(RepairOrder, ATableThatWasReplacedLongAgoIsLeftOut) {
  // 1 became 2, 2 and 3 became 4; 2 is missing, 1 still exists.
  EXPECT_EQ(tables_without_replaced({1, 3, 4}, Rewrites{{4, {{4}, {2, 3, 1}}}}), (Numbers{4}));
}

TEST(RepairOrder, OutputsThatListDifferentInputsAreJudgedTogether) {
  // 1 and 2 became 3, which lists 1, and 4, which lists both. 2 is gone, 1 is not. Judged alone, 3 would be unfinished.
  EXPECT_EQ(tables_without_replaced({1, 3, 4}, Rewrites{{3, {{3, 4}, {1, 2}}}}), (Numbers{3, 4}));
}

TEST(RepairOrder, InputsStandInForALostOutput) {
  // 1 and 2 became 3, which lists 1, and 4, which lists both and is lost: 2 covers it, as far as it is there.
  EXPECT_EQ(tables_without_replaced({1, 2, 3}, Rewrites{{3, {{3}, {1}}}}), (Numbers{1, 2}));
}

TEST(RepairOrder, NothingIsChosenFromNothing) {
  EXPECT_EQ(tables_without_replaced({}, Rewrites{}), Numbers{});
  EXPECT_EQ(tables_without_replaced({7}, Rewrites{{7, {{7}, {}}}}), Numbers{7});
  EXPECT_EQ(layers_text({}), "");
}

TEST(RepairOrder, TablesAreOrderedByTheirSequences) {
  EXPECT_EQ(layers_text({table(1, "a", "z", 20, 30), table(2, "c", "k", 1, 9), table(3, "k", "l", 10, 19)}),
            "2 | 3 | 1");
}

TEST(RepairOrder, TablesThatDoNotOverlapShareALayer) {
  EXPECT_EQ(layers_text({table(1, "a", "c", 0, 0), table(2, "d", "f", 0, 5), table(3, "b", "e", 7, 9),
                         table(4, "x", "y", 8, 8)}),
            "1 2 4 | 3");
}

TEST(RepairOrder, TablesThatInterleaveAreMerged) {
  EXPECT_EQ(layers_text({table(1, "a", "m", 1, 9), table(2, "k", "z", 5, 12), table(3, "x", "z", 20, 30)}), "2+1 | 3");
  // The merged range is wider than its parts and so includes a third table.
  EXPECT_EQ(layers_text({table(1, "a", "c", 1, 20), table(2, "b", "z", 20, 30), table(3, "m", "n", 4, 5)}), "3+2+1");
}

}  // namespace
}  // namespace tamis
