// The seeds of randomised tests: always the same, unless somebody asks for others.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace tamis::test {

/// `usual`, so that every run of a test is the same run; with TAMIS_SEED=N in the environment (scripts/soak sets it)
/// another number for each N, and the log then says which N it was. Usual seeds are below a million, so that those of
/// different N do not meet.
inline std::uint64_t base_seed(std::uint64_t usual) {
  const char* const text = std::getenv("TAMIS_SEED");
  if (text == nullptr) return usual;
  static const bool is_said = std::printf("again: TAMIS_SEED=%s\n", text) > 0;
  (void)is_said;
  return usual + std::strtoull(text, nullptr, 10) * 1'000'000;
}

}  // namespace tamis::test
