#include "base/random_source.h"

#include <random>

#include "base/random.h"
#include "base/sync.h"

namespace tamis {
namespace {

class MachineRandom final : public RandomSource {
 public:
  std::uint64_t next() override {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
};

class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(std::uint64_t seed) : numbers_(seed) {}
  std::uint64_t next() override {
    MutexLock lock(mutex_);
    return numbers_.next();
  }

 private:
  Mutex mutex_;
  SplitMix64 numbers_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<RandomSource> make_random_source(std::optional<std::uint64_t> seed) {
  if (seed) return std::make_unique<SeededRandom>(*seed);
  return std::make_unique<MachineRandom>();
}

}  // namespace tamis
