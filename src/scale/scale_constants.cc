// Measured by scale_bench (bench/scale_bench.cc). docs/data/scale_constants.json has the medians, with the lowest and
// highest of all rounds.
#include "tamis/scale.h"

namespace tamis {

ScaleConstants ScaleConstants::measured() {
  return {.flush_ns_per_entry = 155,
          .flush_ns_per_byte = 1.0,
          .merge_ns_per_entry = 170,
          .merge_ns_per_byte = 0.91,
          .open_ns_per_table = 5700,
          .replay_ns_per_entry = 240,
          .load_ns_per_byte = 1.1,
          .memory_bytes_per_table = 1060};
}

}  // namespace tamis
