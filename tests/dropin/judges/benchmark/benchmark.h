// In place of Google's benchmark library, for benchmarks that are compiled with LevelDB's tests and never run.
#pragma once

#include <cstdint>

namespace benchmark {

class State {
 public:
  const int* begin() const { return nullptr; }
  const int* end() const { return nullptr; }
  int range(int /*number*/) const { return 0; }
  std::uint64_t iterations() const { return 0; }
};

struct Unused {
  Unused* Arg(int /*value*/) { return this; }
};

inline Unused* unused(void (*function)(State&)) {
  static Unused none;
  (void)function;
  return &none;
}

inline void RunSpecifiedBenchmarks() {}

}  // namespace benchmark

#define BENCHMARK(function) [[maybe_unused]] static benchmark::Unused* unused_##function = benchmark::unused(function)
