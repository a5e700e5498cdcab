// The instruction sets that vectorised functions are compiled for, and the choice among their bodies when the program
// runs. Highway compiles the bodies; its own choice needs its library, which takes longer to load than a store to open
// (docs/decisions/0053-own-dispatch.md).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace tamis {

/// Highway's targets on x86-64. Each includes those before it. Elsewhere there is only the first.
enum class InstructionSet : unsigned {
  kBaseline,  ///< What the compiler may use anyway: SSE2 on x86-64, NEON on arm64.
  kSsse3,
  kSse4,
  kAvx2,
  kAvx3,    ///< AVX-512 as in the first processors that had it.
  kAvx3Dl,  ///< AVX-512 with permutations and popcounts of bytes and words.
};
inline constexpr std::size_t kInstructionSets = 6;

/// Highway's name: "AVX3_DL".
std::string_view name_of(InstructionSet set);

/// The best that the processor and the operating system support. Asked for the first time, it detects them; a static
/// initialiser may be the first.
InstructionSet best_instruction_set();

/// Those that this machine supports, best first.
std::vector<InstructionSet> supported_instruction_sets();

/// For tests: while it exists, `set`, which must be supported, counts as the best. One at a time.
class PretendedInstructionSet {
 public:
  explicit PretendedInstructionSet(InstructionSet set);
  ~PretendedInstructionSet();
  PretendedInstructionSet(const PretendedInstructionSet&) = delete;
  PretendedInstructionSet& operator=(const PretendedInstructionSet&) = delete;
};

/// `bodies` has one function per InstructionSet, or null where there is none; the first is never null.
template <typename Function>
Function* best_of(const std::array<Function*, kInstructionSets>& bodies) {
  auto set = static_cast<std::size_t>(best_instruction_set());
  while (bodies[set] == nullptr) --set;
  return bodies[set];
}

/// The body of `function` for the best instruction set: for files that include <hwy/foreach_target.h>, after HWY_ONCE.
/// If the compiler was told to assume AVX2, say, Highway's baseline is that, and the bodies below it are null.
#define TAMIS_BEST_BODY(function)                                                                   \
  ::tamis::best_of(std::array<decltype(&HWY_STATIC_DISPATCH(function)), ::tamis::kInstructionSets>{ \
      &HWY_STATIC_DISPATCH(function), HWY_CHOOSE_SSSE3(function), HWY_CHOOSE_SSE4(function),        \
      HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX3_DL(function)})

}  // namespace tamis
