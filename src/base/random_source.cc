#include "engine/random_source.h"

#include <cstring>
#include <random>

#include "base/random.h"
#include "base/sync.h"

namespace tamis {
namespace {

class MachineRandom final : public Manifest::Random {
 public:
  std::uint64_t next() override {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
};

class SeededRandom final : public Manifest::Random {
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

std::unique_ptr<Manifest::Random> make_random_source(std::optional<std::uint64_t> seed) {
  if (seed) return std::make_unique<SeededRandom>(*seed);
  return std::make_unique<MachineRandom>();
}

TableIdentity draw_identity(Manifest::Random& random) {
  TableIdentity identity;
  for (std::size_t i = 0; i < 2; ++i) {
    store_le(identity.store_id.data() + 8 * i, random.next());
    store_le(identity.hash_key.data() + 8 * i, random.next());
  }
  return identity;
}

}  // namespace tamis
