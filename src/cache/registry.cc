// One line per policy.
#include <array>

#include "cache/cache_policy.h"

namespace tamis {
namespace {

constexpr std::array kPolicies = {
    &kS3FifoPolicy,  //
    &kLruPolicy,     //
};

}  // namespace

std::span<const CachePolicy* const> all_cache_policies() { return kPolicies; }

const CachePolicy* find_cache_policy(std::string_view name) {
  for (const CachePolicy* policy : kPolicies) {
    if (policy->name == name) return policy;
  }
  return nullptr;
}

}  // namespace tamis
