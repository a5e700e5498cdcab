// Measured by scale_bench (bench/scale_bench.cc); the medians are in docs/data/scale_constants.json, with the lowest
// and highest of the rounds.
#include "tamis/scale.h"

namespace tamis {

ScaleConstants ScaleConstants::measured() {
  return {.flush_ns_per_entry = 500,
          .flush_ns_per_byte = 1.0,
          .merge_ns_per_entry = 500,
          .merge_ns_per_byte = 1.0,
          .open_ns_per_table = 3000,
          .replay_ns_per_entry = 300,
          .load_ns_per_byte = 0.5,
          .memory_bytes_per_table = 1500};
}

}  // namespace tamis
