#include "table/probe_sampling.h"

#include <cmath>

#include "base/random.h"
#include "base/sharded_counter.h"

namespace tamis {
namespace {

/// How many times in a row an event of probability 1/kProbesPerSample fails: geometric, by inversion.
std::uint32_t draw_failures(SplitMix64& random) {
  const double log_of_failure = std::log1p(-1.0 / ProbeSampling::kProbesPerSample);
  const double uniform = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1p-53;  // Neither 0 nor 1.
  return static_cast<std::uint32_t>(std::log(uniform) / log_of_failure);
}

}  // namespace

constinit thread_local std::uint32_t ProbeSampling::left_ = 0;

bool ProbeSampling::draw() {
  thread_local SplitMix64 random(thread_number());
  thread_local bool is_first = true;
  if (is_first) {  // Nothing was drawn yet: this probe is like any other.
    is_first = false;
    left_ = draw_failures(random);
    if (left_ > 0) return --left_, false;
  }
  left_ = draw_failures(random);
  return true;
}

}  // namespace tamis
