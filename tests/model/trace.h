// A recorded run: how the store was opened and everything that was done to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_run.h"
#include "model/operation.h"

namespace tamis::test {

struct Trace {
  RunSpec spec = {};
  std::vector<Operation> operations = {};
};

/// One line each: "seed 7", "background", "schedule 8", "options …" for each set, then the operations. '#' begins a
/// comment.
std::string to_text(const Trace& trace);
Result<Trace> parse_trace(std::string_view text);

/// How a run ended.
struct Outcome {
  std::string failure = {};  ///< Empty if store and model agreed to the end.
  std::uint64_t digest = 0;
  std::uint64_t flushes = 0;
  std::uint64_t compactions = 0;
  std::uint64_t interruptions = 0;
  std::uint64_t ruled_out_by_run_index = 0;
};

/// Runs it in this process.
Outcome run_here(const Trace& trace);
/// Runs it in a child, so that a crash or hang is an outcome too.
Outcome run_apart(const Trace& trace);

/// The shortest trace found that still fails, by removing ever smaller pieces.
Trace shrunk(Trace trace);

/// Runs it in a child; a failure is shrunk and written to a file. The text says what went wrong and how to reproduce
/// it.
std::string explain_failure(const Trace& trace, const Outcome& outcome);

}  // namespace tamis::test
