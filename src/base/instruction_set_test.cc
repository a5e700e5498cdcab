#include "base/instruction_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace tamis {
namespace {

int zero() { return 0; }
int two() { return 2; }
int five() { return 5; }

#ifdef __x86_64__
/// What the kernel lists as "flags": the features that the processor has and the kernel saves the registers of.
std::set<std::string> flags_of_kernel() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}
#endif

TEST(InstructionSet, IsWhatTheKernelSays) {
#ifdef __x86_64__
  const std::set<std::string> flags = flags_of_kernel();
  ASSERT_FALSE(flags.empty());
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::ranges::all_of(names, [&](const char* name) { return flags.contains(name); });
  };
  // In addition those that are used in no body: a machine without them would be the first to have the rest.
  InstructionSet expected = InstructionSet::kBaseline;
  if (has({"ssse3"})) expected = InstructionSet::kSsse3;
  if (has({"ssse3", "sse4_1", "sse4_2", "aes", "pclmulqdq"})) expected = InstructionSet::kSse4;
  if (expected == InstructionSet::kSse4 && has({"avx2", "bmi1", "bmi2", "fma", "f16c"})) {
    expected = InstructionSet::kAvx2;
  }
  if (expected == InstructionSet::kAvx2 && has({"avx512f", "avx512vl", "avx512dq", "avx512bw"})) {
    expected = InstructionSet::kAvx3;
  }
  if (expected == InstructionSet::kAvx3 &&
      has({"avx512vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_bitalg", "avx512_vpopcntdq", "vpclmulqdq", "vaes"})) {
    expected = InstructionSet::kAvx3Dl;
  }
  EXPECT_EQ(name_of(best_instruction_set()), name_of(expected));
#else
  EXPECT_EQ(best_instruction_set(), InstructionSet::kBaseline);
#endif
}

TEST(InstructionSet, SupportedAreAllUpToTheBest) {
  const std::vector<InstructionSet> sets = supported_instruction_sets();
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), best_instruction_set());
  EXPECT_EQ(sets.back(), InstructionSet::kBaseline);
  EXPECT_EQ(sets.size(), static_cast<std::size_t>(sets.front()) + 1);
  EXPECT_TRUE(std::ranges::is_sorted(sets, std::greater<>()));
}

TEST(InstructionSet, PretendedOnesCountOnlyMeanwhile) {
  const InstructionSet machine = best_instruction_set();
  for (const InstructionSet set : supported_instruction_sets()) {
    const PretendedInstructionSet pretended(set);
    EXPECT_EQ(best_instruction_set(), set);
    EXPECT_EQ(supported_instruction_sets().front(), machine);
  }
  EXPECT_EQ(best_instruction_set(), machine);
}

TEST(InstructionSet, TheBestBodyIsOfTheSetOrTheNextLowerOne) {
  const std::array<int (*)(), kInstructionSets> bodies = {zero, nullptr, two, nullptr, nullptr, five};
  const std::array<int, kInstructionSets> expected = {0, 0, 2, 2, 2, 5};
  for (const InstructionSet set : supported_instruction_sets()) {
    const PretendedInstructionSet pretended(set);
    EXPECT_EQ(best_of(bodies)(), expected[static_cast<std::size_t>(set)]) << name_of(set);
  }
}

}  // namespace
}  // namespace tamis
