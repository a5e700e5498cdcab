// What a filter is made with if a command does not say it: settings of the server, as RedisBloom has them.
#pragma once

#include <string>

#include "module_api.h"
#include "value.h"

namespace tamis_redis {

/// A number with its limits.
struct Setting {
  const char* name;
  long long value;
  long long least;
  long long most;

  [[nodiscard]] bool allows(long long number) const { return number >= least && number <= most; }
};

/// Threads: as the server, one at a time.
struct Defaults {
  double bf_error_rate = 0.01;
  Setting bf_initial_size = {"bf-initial-size", 100, 1, 1LL << 30};
  Setting bf_expansion_factor = {"bf-expansion-factor", 2, 0, kMostExpansion};
  Setting cf_initial_size = {"cf-initial-size", 1024, 4, 1LL << 30};
  Setting cf_bucket_size = {"cf-bucket-size", 2, 1, kMostBucketSize};
  Setting cf_max_iterations = {"cf-max-iterations", 20, 1, 65535};
  Setting cf_expansion_factor = {"cf-expansion-factor", 1, 0, kMostExpansion};
};
inline Defaults defaults;

/// The shortest number that is read as this one.
std::string shortest_text(double number);

/// Whether this is a rate between 0 and 1. Those above 1/4 become 1/4, as in RedisBloom.
bool accept_error_rate(double& rate);

Shape default_bloom_shape();
Shape default_cuckoo_shape();

/// Sets what the line that loads the module says: names and values. False, and logs why, for anything else.
bool read_arguments(Context* context, String** arguments, int count);

/// Makes them settings of CONFIG, where they are called "bf.bf-error-rate" and so on.
bool register_settings(Context* context);

}  // namespace tamis_redis
