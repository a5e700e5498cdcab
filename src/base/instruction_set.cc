#include "base/instruction_set.h"

#include <atomic>

#include "base/check.h"

namespace tamis {
namespace {

constexpr std::array<std::string_view, kInstructionSets> kNames = {"baseline", "SSSE3", "SSE4",
                                                                   "AVX2",     "AVX3",  "AVX3_DL"};

#ifdef __x86_64__

/// The features that Highway lets the compiler use in a body for the set, as far as clang 14 knows their names; F16C
/// and VAES, which it does not, are used by no body. The compiler's detection includes whether the operating system
/// saves the wide registers.
InstructionSet detect() {
  __builtin_cpu_init();  // In a static initialiser, nobody may have done that.
  const bool has_ssse3 = __builtin_cpu_supports("ssse3");
  const bool has_sse4 = has_ssse3 && __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
                        __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  const bool has_avx2 = has_sse4 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
  const bool has_avx3 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  const bool has_avx3_dl = has_avx3 && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
                           __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bitalg") &&
                           __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("vpclmulqdq");
  if (has_avx3_dl) return InstructionSet::kAvx3Dl;
  if (has_avx3) return InstructionSet::kAvx3;
  if (has_avx2) return InstructionSet::kAvx2;
  if (has_sse4) return InstructionSet::kSse4;
  return has_ssse3 ? InstructionSet::kSsse3 : InstructionSet::kBaseline;
}

#else

InstructionSet detect() { return InstructionSet::kBaseline; }

#endif

InstructionSet detected() {
  static const InstructionSet set = detect();
  return set;
}

constexpr int kNothingPretended = -1;
constinit std::atomic<int> pretended = kNothingPretended;

}  // namespace

std::string_view name_of(InstructionSet set) { return kNames[static_cast<std::size_t>(set)]; }

InstructionSet best_instruction_set() {
  const int set = pretended.load(std::memory_order_relaxed);
  return set == kNothingPretended ? detected() : static_cast<InstructionSet>(set);
}

std::vector<InstructionSet> supported_instruction_sets() {
  std::vector<InstructionSet> sets;
  for (int set = static_cast<int>(detected()); set >= 0; --set) sets.push_back(static_cast<InstructionSet>(set));
  return sets;
}

PretendedInstructionSet::PretendedInstructionSet(InstructionSet set) {
  TAMIS_CHECK(set <= detected());
  TAMIS_CHECK(pretended.load(std::memory_order_relaxed) == kNothingPretended);
  pretended.store(static_cast<int>(set), std::memory_order_relaxed);
}

PretendedInstructionSet::~PretendedInstructionSet() { pretended.store(kNothingPretended, std::memory_order_relaxed); }

}  // namespace tamis
