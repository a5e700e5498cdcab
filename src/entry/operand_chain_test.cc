#include "entry/operand_chain.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "entry/merge_operators.h"

namespace tamis {
namespace {

OperandChain chain_of(int links) {
  OperandChain chain;
  for (int i = links; i-- > 0;) EXPECT_TRUE(chain.add(std::string(1, static_cast<char>('a' + i)), Sequence{1}).ok());
  return chain;
}

TEST(OperandChain, FoldsInTheOrderOfWritingWhateverItsLength) {
  const MergeOperators operators{{}};
  std::string expected;
  for (int links = 1; links <= 20; ++links) {
    expected += static_cast<char>('a' + links - 1);
    std::string folded;
    ASSERT_TRUE(chain_of(links).fold(operators.find("append"), folded).ok());
    EXPECT_EQ(folded, expected);
  }
}

TEST(OperandChain, CopiesEachByteALogarithmicNumberOfTimes) {
  std::uint64_t bytes = 0;
  const MergeOperator counting{"counting", [&](std::string_view older, std::string_view newer, std::string& result) {
                                 bytes += older.size() + newer.size();
                                 result.append(older).append(newer);
                                 return true;
                               }};
  OperandChain chain;
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(chain.add("x", Sequence{1}).ok());
  std::string folded;
  ASSERT_TRUE(chain.fold(&counting, folded).ok());
  EXPECT_EQ(folded.size(), 1024U);
  EXPECT_EQ(bytes, 1024U * 10);
}

TEST(OperandChain, SaysWhyItCannotFold) {
  std::string folded;
  EXPECT_EQ(chain_of(1).fold(nullptr, folded).code(), StatusCode::kNotSupported);
  const MergeOperator missing{"missing", {}};
  EXPECT_EQ(chain_of(1).fold(&missing, folded).code(), StatusCode::kNotSupported);
  const MergeOperator refusing{"refusing", [](std::string_view, std::string_view, std::string&) { return false; }};
  EXPECT_EQ(chain_of(2).fold(&refusing, folded).code(), StatusCode::kInvalidArgument);
  const MergeOperator throwing{"throwing", [](std::string_view, std::string_view, std::string&) -> bool {
                                 throw std::runtime_error("although it must not");
                               }};
  EXPECT_EQ(chain_of(2).fold(&throwing, folded).code(), StatusCode::kInvalidArgument);
  const MergeOperator hungry{"hungry",
                             [](std::string_view, std::string_view, std::string&) -> bool { throw std::bad_alloc(); }};
  EXPECT_EQ(chain_of(2).fold(&hungry, folded).code(), StatusCode::kOutOfSpace);
}

}  // namespace
}  // namespace tamis
