// The runs of a hypothetical store.
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
  double replaced_bytes = 0;  ///< Part of `bytes`: lists of replaced tables, for repair.
  double blocks = 0;
  double index_memory = 0;  ///< Once opened.
  double index_wanted = 0;  ///< The estimate before opening, by which memory is shared.
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

  /// The sum of `member` over all runs.
  [[nodiscard]] double sum(double ScaledRun::*member) const;
};

/// Samples, simulates and plans. The question's options must be valid.
Result<ScaledStore> scale_store(const ScaleQuestion& question);

}  // namespace tamis
