// Random numbers from a seed: the same seed repeats the same draws.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace tamis::cli {

/// Mixes 64 bits, so that close numbers become unrelated (splitmix64's finaliser).
constexpr std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

/// One number from several, all of which affect it.
constexpr std::uint64_t mixed(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t result = 0;
  for (const std::uint64_t number : numbers) result = mixed(result + number + 0x9e3779b97f4a7c15);
  return result;
}

/// A sequence of random numbers.
///
/// Threads: one at a time.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15); }
  /// 0 … bound-1. Precondition: bound > 0.
  std::uint64_t below(std::uint64_t bound) { return (next() >> 8) % bound; }
  /// True once in `times`.
  bool once_in(std::uint64_t times) { return below(times) == 0; }
  template <typename List>
  const auto& one_of(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace tamis::cli
