// The seeds of randomised tests: fixed unless TAMIS_SEED asks for others.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tamis::test {

/// Returns `usual`, so that every run of a test is the same. With TAMIS_SEED=N in the environment (scripts/soak sets
/// it) each N gives another number, and the log names N. Usual seeds are below a million, so those of different N do
/// not collide.
inline std::uint64_t base_seed(std::uint64_t usual) {
  const char* const text = std::getenv("TAMIS_SEED");
  if (text == nullptr) return usual;
  static const bool is_said = std::printf("again: TAMIS_SEED=%s\n", text) > 0;
  (void)is_said;
  return usual + std::strtoull(text, nullptr, 10) * 1'000'000;
}

}  // namespace tamis::test
