// The runs of a store that does not exist.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compaction/growth.h"
#include "tamis/scale.h"
#include "tamis/status.h"

namespace tamis {

/// One run, with all its tables.
struct ScaledRun {
  std::uint32_t level = 0;
  double keys = 0;
  double tables = 0;
  double bytes = 0;           ///< On disk, filters included.
  double replaced_bytes = 0;  ///< Of these: lists of the tables that the run's replaced, for repair.
  double blocks = 0;
  double index_memory = 0;  ///< As it is opened.
  double index_wanted = 0;  ///< As memory is shared: what the store reckons with before it has opened it.
  std::string filter_kind;  ///< Empty: none.
  double filter_bytes = 0;
  double rate = 1;
};

struct ScaledStore {
  std::uint64_t entries = 0;
  std::uint64_t entries_per_flush = 0;
  Growth growth;
  std::vector<ScaledRun> runs;  ///< Newest first.
  double wasted_reads_uniform = 0;
  std::uint64_t manifest_bytes_per_table = 0;

  /// `member` summed over all runs.
  [[nodiscard]] double sum(double ScaledRun::*member) const;
};

/// Samples, simulates and plans. The question's options are known to be good.
Result<ScaledStore> scale_store(const ScaleQuestion& question);

}  // namespace tamis
