// Threads that add to one filter: ConcurrentFilter beside a MutableFilter behind a mutex.
//
//     concurrent_filter_bench [--keys N] [--rounds N]
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "tamis/concurrent_filter.h"

namespace tamis {
namespace {

/// Million keys per second; each thread adds every `threads`-th key.
template <typename Add>
double rate(std::uint64_t threads, std::uint64_t keys, Add add) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> adding;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    adding.emplace_back([&, thread] {
      for (std::uint64_t i = thread; i < keys; i += threads) add(remix(i));
    });
  }
  for (std::thread& thread : adding) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(keys) / took.count() / 1e6;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(std::string_view kind, std::uint64_t threads, std::uint64_t keys, int rounds) {
  const FilterOptions options = {.kind = std::string(kind), .target_rate = 0.01, .capacity = keys};
  std::vector<double> behind_mutex;
  std::vector<double> concurrent;
  for (int round = 0; round < rounds; ++round) {
    MutableFilter one = MutableFilter::create(options).value();
    std::mutex mutex;
    behind_mutex.push_back(rate(threads, keys, [&](std::uint64_t hash) {
      const std::lock_guard lock(mutex);
      if (!one.add_hash(hash).ok()) std::abort();
    }));
    ConcurrentFilter shared = ConcurrentFilter::create(options).value();
    concurrent.push_back(rate(threads, keys, [&](std::uint64_t hash) { shared.add_hash(hash); }));
  }
  fmt::print("{:6} {} threads: behind a mutex {:5.1f}, concurrent {:5.1f} million keys/s\n", kind, threads,
             median(behind_mutex), median(concurrent));
}

}  // namespace
}  // namespace tamis

int main(int count, char** arguments) {
  std::uint64_t keys = 4'000'000;
  int rounds = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = arguments[i];
    if (name == "--keys") keys = std::strtoull(arguments[i + 1], nullptr, 10);
    if (name == "--rounds") rounds = std::max(1, std::atoi(arguments[i + 1]));
  }
  for (const std::string_view kind : {"line", "bloom", "split"}) {
    for (const std::uint64_t threads : {1, 2, 8}) tamis::compare(kind, threads, keys, rounds);
  }
  return 0;
}
